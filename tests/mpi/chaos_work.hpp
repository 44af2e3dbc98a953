// What the ranks of tests/mpi/chaos.cpp do: channels with several producers and consumers, pipelines at both ends,
// collective operations, messages and a report of all ranks, next to each other.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_MPI_CHAOS_WORK_HPP
#define WEIR_TESTS_MPI_CHAOS_WORK_HPP

#include "mpi/chaos_ranks.hpp"
#include "unit/report/ranks.hpp"

#include <weir/mpi/channel.hpp>
#include <weir/mpi/job_checkpoint.hpp>
#include <weir/mpi/rank_report.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/stop_token.hpp>
#include <weir/task/when_all.hpp>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace chaos {

using item = std::vector<std::uint32_t>;
using item_channel = weir::mpi::channel<item>;
using numbers = std::vector<std::uint64_t>;

// The number `n` of a rank's producer. Some are empty, some long.
inline item make_item(std::uint32_t rank, std::uint32_t producer, std::uint32_t n) {
    const std::uint32_t kind = (rank * 5 + producer * 3 + n) % 16;
    item x(kind == 0 ? 0 : kind == 1 ? 3000 : kind * 3, n);
    if (!x.empty()) x[0] = rank << 24U | producer << 20U | n;
    return x;
}

// What all ranks have to agree on.
struct plan {
    explicit plan(std::uint64_t seed) : random(seed) {
        machine.ranks = ranks;
        machine.seed = seed;
        machine.longest_delay = static_cast<int>(random.up_to(15));
        const std::size_t limits[] = {0, 16, 64, 20'000};
        machine.eager = limits[random.up_to(3)];
        for (std::vector<weir::mpi::channel_options>& roles : channels) {
            for (int r = 0; r < ranks; ++r) {
                weir::mpi::channel_options& o = roles.emplace_back();
                o.capacity = random.from_to(random.one_in(60) ? 0 : 1, 6);
                o.puts = !random.one_in(3);
                o.gets = !random.one_in(3);
            }
        }
        for (std::size_t& each : collectives) each = random.up_to(9);
        for (std::size_t& each : messages) each = random.one_in(4) ? random.up_to(5000) : random.up_to(20);
    }

    random_numbers random;
    const int ranks = static_cast<int>(random.from_to(1, 4));
    stand_in::settings machine;
    std::vector<std::vector<weir::mpi::channel_options>> channels{random.up_to(2)};
    std::vector<std::size_t> collectives{std::vector<std::size_t>(random.up_to(6))};
    std::vector<std::size_t> messages{std::vector<std::size_t>(random.up_to(3))};
    bool blocks = true;  // a rank may run its executor within a destructor
    const bool reports = random.one_in(8);
};

class work {
  public:
    work(rank_set& ranks, plan& p) : ranks_(ranks), plan_(p), channels_(p.channels.size()) {
        for (auto& each : channels_) each.ends.resize(static_cast<std::size_t>(p.ranks));
    }
    work(const work&) = delete;
    work& operator=(const work&) = delete;
    ~work() {
        for (auto& each : channels_) {
            for (auto& c : each.ends) {
                if (c == nullptr) continue;
                c->close();
                c->cancel();
            }
        }
        ranks_.let_others_poll();
        channels_.clear();
        stand_in::during_calls(nullptr);
    }

    // `throws_after`: so many times another coroutine may continue before.
    weir::task<> run(int rank, std::optional<std::size_t> throws_after) {
        const communicator all = ranks_.of(rank);
        for (auto& each : channels_) co_await open(each, all);
        const communicator apart = co_await all.duplicate();
        std::vector<weir::task<>> parts;
        for (auto& each : channels_) {
            const auto& c = each.ends[static_cast<std::size_t>(rank)];
            if (c == nullptr) continue;
            const auto& mine = plan_.channels[index(each)][static_cast<std::size_t>(rank)];
            if (mine.puts) parts.push_back(put_and_close(each, *c, rank));
            if (mine.gets) parts.push_back(get_and_leave(each, *c, rank));
            if (mine.puts && random().one_in(10)) parts.push_back(close_early(*c));
        }
        parts.push_back(call_collectives(all));
        parts.push_back(exchange(apart));
        if (throws_after) parts.push_back(fail_after(*throws_after));
        if (plan_.reports && plan_.blocks) {
            const communicator own = co_await all.duplicate();
            parts.push_back(report(own));
        }
        co_await weir::when_all(std::move(parts));
        for (auto& each : channels_) {
            const auto& c = each.ends[static_cast<std::size_t>(rank)];
            if (c != nullptr) check_balance(each, co_await c->balance());
        }
    }

    std::string wrong;

  private:
    struct one_channel {
        std::vector<std::unique_ptr<item_channel>> ends;  // by rank
        std::size_t num_put = 0;
        std::size_t num_got = 0;
        bool is_counted = true;  // all puts are
    };

    random_numbers& random() { return ranks_.random(); }
    std::size_t index(const one_channel& c) const { return static_cast<std::size_t>(&c - channels_.data()); }
    void check(bool is_right, const char* what) {
        if (!is_right) wrong += std::string(what) + "\n";
    }
    weir::task<> rest(std::size_t most) {
        for (std::size_t n = random().up_to(most); n > 0; --n) co_await weir::yield();
    }
    weir::task<> fail_after(std::size_t times) {
        for (std::size_t n = 0; n < times; ++n) co_await weir::yield();
        throw std::runtime_error("the disk is full");
    }
    weir::task<> stop_later(weir::stop_source& stop) {
        co_await rest(20);
        stop.request_stop();
    }
    weir::task<> close_early(item_channel& c) {
        co_await rest(60);
        c.close();
    }

    weir::task<> open(one_channel& each, communicator all) {
        const auto& roles = plan_.channels[index(each)];
        bool puts = false;
        bool gets = false;
        bool has_room = true;
        for (const auto& r : roles) {
            puts = puts || r.puts;
            gets = gets || r.gets;
            has_room = has_room && r.capacity != 0;
        }
        const auto& mine = roles[static_cast<std::size_t>(all.rank())];
        try {
            auto agreed = co_await item_channel::plan(all, mine);
            check(puts && gets && has_room, "a channel that can't work was made");
            each.ends[static_cast<std::size_t>(all.rank())] =
                std::make_unique<item_channel>(std::move(agreed), ranks_.loop(all.rank()), mine);
        } catch (const std::invalid_argument&) {
            check(!puts || !gets || !has_room, "a channel was refused");
        }
    }

    weir::task<> put_and_close(one_channel& each, item_channel& c, int rank) {
        std::vector<weir::task<>> producers;
        const bool by_pipeline = plan_.blocks && random().one_in(4);
        if (by_pipeline) {
            each.is_counted = false;
            producers.push_back(put_by_pipeline(c, rank));
        }
        for (std::uint32_t k = by_pipeline ? 3 : static_cast<std::uint32_t>(random().up_to(2)); k < 3; ++k)
            producers.push_back(put(each, c, static_cast<std::uint32_t>(rank), k));
        co_await weir::when_all(std::move(producers));
        c.close();
    }
    weir::task<> put_by_pipeline(item_channel& c, int rank) {
        std::vector<std::uint32_t> all(random().up_to(20));
        std::iota(all.begin(), all.end(), 0U);
        const auto make = [rank](std::uint32_t n) {
            return make_item(static_cast<std::uint32_t>(rank), 3, n);
        };
        auto run =
            (weir::source(std::move(all)) | weir::pipe(make) | weir::sink_to(c)).start(ranks_.loop(rank));
        co_await run;
    }
    weir::task<> put(one_channel& each, item_channel& c, std::uint32_t rank, std::uint32_t producer) {
        const auto count = static_cast<std::uint32_t>(random().up_to(15));
        for (std::uint32_t n = 0; n < count; ++n) {
            item x = make_item(rank, producer, n);
            bool was_put = false;
            if (random().one_in(8)) {
                weir::stop_source stop;
                const auto putting = [&]() -> weir::task<> {
                    was_put = co_await c.put(std::move(x), stop.get_token());
                };
                co_await weir::when_all(putting(), stop_later(stop));
                if (!was_put) check(x == make_item(rank, producer, n), "an item that was not put is gone");
            }
            if (!was_put) was_put = co_await c.put(std::move(x));
            if (!was_put) break;
            ++each.num_put;
            if (random().one_in(4)) co_await rest(10);
        }
    }

    weir::task<> get_and_leave(one_channel& each, item_channel& c, int rank) {
        std::vector<weir::task<>> consumers;
        const std::size_t most = random().one_in(4) ? random().up_to(10) : 1000;
        if (plan_.blocks && random().one_in(4)) {
            consumers.push_back(get_by_pipeline(each, c, rank, most));
        } else {
            for (std::size_t k = random().up_to(2); k < 3; ++k) consumers.push_back(get(each, c, most));
        }
        co_await weir::when_all(std::move(consumers));
        if (most != 1000) c.cancel();
    }
    weir::task<> get(one_channel& each, item_channel& c, std::size_t most) {
        std::map<std::uint32_t, std::uint32_t> next;
        for (std::size_t i = 0; i < most; ++i) {
            std::optional<item> x;
            if (random().one_in(8)) {
                weir::stop_source stop;
                const auto getting = [&]() -> weir::task<> { x = co_await c.get(stop.get_token()); };
                co_await weir::when_all(getting(), stop_later(stop));
            }
            if (!x) x = co_await c.get();
            if (!x) break;
            take(each, next, *x);
            if (random().one_in(4)) co_await rest(10);
        }
    }
    weir::task<> get_by_pipeline(one_channel& each, item_channel& c, int rank, std::size_t most) {
        std::map<std::uint32_t, std::uint32_t> next;
        auto run = (weir::source(c) | weir::sink(2)).start(ranks_.loop(rank));
        for (std::size_t i = 0; i < most; ++i) {
            auto x = co_await run.next();
            if (!x) break;
            take(each, next, *x);
        }
        each.is_counted = false;  // the queue of the sink has items, too
    }
    void take(one_channel& each, std::map<std::uint32_t, std::uint32_t>& next, const item& x) {
        ++each.num_got;
        if (x.empty()) return;
        const std::uint32_t n = x[0] & 0xfffffU;
        check(x == make_item(x[0] >> 24U, x[0] >> 20U & 15U, n), "an item has changed on its way");
        std::uint32_t& least = next[x[0] >> 20U];
        check(n >= least, "items of a producer have overtaken each other");
        least = n + 1;
    }
    void check_balance(const one_channel& each, const weir::mpi::channel_balance& b) {
        check(b.put == b.got + b.returned + b.remaining, "the balance is uneven");
        check(b.got >= each.num_got, "fewer items are said to be got than were");
        check(!each.is_counted || (b.put == each.num_put && b.got == each.num_got),
              "the balance differs from what was put and got");
    }

    // Buffers that MPI may use until the end of the job, if a rank fails.
    numbers& keep(numbers n) { return kept_.emplace_back(std::move(n)); }

    weir::task<> call_collectives(communicator c) {
        const auto me = static_cast<std::uint64_t>(c.rank());
        const auto size = static_cast<std::uint64_t>(c.size());
        for (const std::size_t kind : plan_.collectives) {
            const int root = static_cast<int>(kind) % c.size();
            const bool is_root = c.rank() == root;
            numbers& mine = keep({me, 10 * me});
            numbers& all = keep(numbers(2 * size));
            numbers expected;
            for (std::uint64_t r = 0; r < size; ++r) expected.insert(expected.end(), {r, 10 * r});
            switch (kind) {
                case 0:
                    co_await c.barrier();
                    break;
                case 1:
                    co_await c.all_reduce(std::span(mine), weir::mpi::reduction::sum);
                    check(mine[1] == 5 * size * (size - 1), "a sum is wrong");
                    break;
                case 2:
                    co_await c.reduce(std::span(mine), weir::mpi::reduction::largest, root);
                    check(mine[1] == 10 * (is_root ? size - 1 : me), "a maximum is wrong");
                    break;
                case 3:
                    co_await c.broadcast(std::span(mine), root);
                    check(mine[1] == 10 * static_cast<std::uint64_t>(root), "a broadcast is wrong");
                    break;
                case 4:
                    co_await c.all_gather(std::span<const std::uint64_t>(mine), std::span(all));
                    check(all == expected, "a gather to all is wrong");
                    break;
                case 5:
                    co_await c.gather(std::span<const std::uint64_t>(mine), std::span(all), root);
                    check(!is_root || all == expected, "a gather is wrong");
                    break;
                case 6: {
                    const auto parts = co_await c.gather_bytes(
                        std::as_bytes(std::span<const std::uint64_t>(mine)).first(me * 3), root);
                    check(parts.size() == (is_root ? size : 0), "a gather of bytes is wrong");
                    for (std::size_t r = 0; r < parts.size(); ++r)
                        check(parts[r].size() == r * 3, "a part of a gather is wrong");
                    break;
                }
                case 7: {
                    std::vector<std::byte> given(is_root ? 100 : 3, std::byte{7});
                    const auto got = co_await c.broadcast_bytes(std::move(given), root);
                    check(got == std::vector<std::byte>(100, std::byte{7}), "a broadcast of bytes is wrong");
                    break;
                }
                case 8: {
                    const communicator half = co_await c.split(c.rank() % 2, -c.rank());
                    check(half.rank() == (c.size() - 1 - c.rank()) / 2, "a split is wrong");
                    co_await half.barrier();
                    break;
                }
                default: {
                    const bool more = co_await weir::mpi::another_round(c, is_root, weir::tail::exact);
                    check(more, "the ranks disagree on another round");
                }
            }
            if (random().one_in(3)) co_await rest(20);
        }
    }

    // A rank may wait for its own message.
    weir::task<> fails_at_once(int rank, weir::task<> part) {
        try {
            co_await std::move(part);
        } catch (const weir::mpi::error& e) {
            ranks_.at(rank).fail(e.what());
        }
    }
    // Each rank sends to the next one.
    weir::task<> exchange(communicator c) {
        const int before = (c.rank() + c.size() - 1) % c.size();
        for (std::size_t i = 0; i < plan_.messages.size(); ++i) {
            const int tag = static_cast<int>(i);
            const auto sending = [this, &c, i, tag]() -> weir::task<> {
                const numbers& sent = keep(numbers(plan_.messages[i], static_cast<std::uint64_t>(c.rank())));
                co_await c.send(std::span<const std::uint64_t>(sent), (c.rank() + 1) % c.size(), tag);
            };
            const auto receiving = [this, &c, i, before, tag]() -> weir::task<> {
                numbers got(plan_.messages[i] + 1, 99);
                if (random().one_in(2)) {
                    const auto found = co_await c.probe(before, tag);
                    check(found.count == 8 * plan_.messages[i], "a probe is wrong");
                }
                const auto r = co_await c.recv(std::span(got), before, tag);
                check(r.from == before && r.tag == tag && r.count == plan_.messages[i], "a receive is wrong");
                check(r.count == 0 || got[r.count - 1] == static_cast<std::uint64_t>(before),
                      "a message is wrong");
                check(got.back() == 99, "a receive wrote behind the message");
            };
            const auto stopped = [this, &c]() -> weir::task<> {
                weir::stop_source stop;
                std::uint64_t never = 0;
                const auto waiting = [&]() -> weir::task<> {
                    const auto none =
                        co_await c.recv(std::span(&never, 1), weir::mpi::any_rank, 77, stop.get_token());
                    check(!none, "a receive found what nobody has sent");
                };
                co_await weir::when_all(waiting(), stop_later(stop));
            };
            co_await weir::when_all(fails_at_once(c.rank(), sending()), fails_at_once(c.rank(), receiving()),
                                    stopped());
        }
    }

    weir::task<> report(communicator own) {
        const weir::pipeline_stats mine =
            ::ranks::rank(::ranks::stage("", 1, weir::duration(10'000'000)).busy);
        weir::mpi::rank_report all(own, ranks_.loop(own.rank()));
        all.begins(mine);
        for (std::size_t lap = random().up_to(3); lap > 0; --lap) {
            all.lap(mine);
            co_await rest(10);
        }
        all.ends(mine, mine);
        const weir::rank_stats total = co_await all.total();
        check(total.ranks.size() == static_cast<std::size_t>(own.size()), "ranks are missing in a report");
    }

    rank_set& ranks_;
    plan& plan_;
    std::vector<one_channel> channels_;
    std::deque<numbers> kept_;
};

}  // namespace chaos

#endif
