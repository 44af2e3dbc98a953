// chaos [--runs N] [--seed S]: 1 to 4 ranks that use channels, collective operations and messages at the same time, on
// the stand-in for MPI, which delays and reorders what MPI may. In most runs something goes wrong: a call of MPI fails,
// a rank throws, or one says nothing any more. Each operation has to end, each item to be accounted for, each rank to
// hear of the failure, and nothing to be left. Each call of MPI fails in some run. A seed that fails is printed, and by
// `--runs 1 --seed S` it is run again.
// SPDX-License-Identifier: BSL-1.0
#include "mpi/chaos_work.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace chaos;
using namespace std::chrono_literals;

// All calls that weir makes while the ranks run. Those with `*` may fail without a failure of the rank, as they are
// repeated, or change nothing. Those with `!` are made after a failure.
const char* const functions[] = {"MPI_Initialized",
                                 "MPI_Finalized",
                                 "MPI_Init_thread",
                                 "MPI_Query_thread",
                                 "MPI_Finalize*",
                                 "MPI_Abort!",
                                 "MPI_Error_class!",
                                 "MPI_Comm_dup",
                                 "MPI_Comm_create_group",
                                 "MPI_Comm_group",
                                 "MPI_Group_incl",
                                 "MPI_Group_free*",
                                 "MPI_Comm_free*",
                                 "MPI_Comm_rank",
                                 "MPI_Comm_size",
                                 "MPI_Comm_set_errhandler",
                                 "MPI_Isend",
                                 "MPI_Irecv",
                                 "MPI_Recv!",
                                 "MPI_Iprobe",
                                 "MPI_Improbe",
                                 "MPI_Imrecv",
                                 "MPI_Test*",
                                 "MPI_Testsome*",
                                 "MPI_Testall!",
                                 "MPI_Request_free!",
                                 "MPI_Cancel*",
                                 "MPI_Test_cancelled",
                                 "MPI_Get_count",
                                 "MPI_Ibarrier",
                                 "MPI_Ibcast",
                                 "MPI_Iallreduce",
                                 "MPI_Ireduce",
                                 "MPI_Iallgather",
                                 "MPI_Igather",
                                 "MPI_Igatherv"};

std::string name_of(std::string function) {
    while (function.ends_with('*') || function.ends_with('!')) function.pop_back();
    return function;
}

struct trouble {
    trouble(random_numbers& random, int ranks) {
        const std::size_t kind = random.up_to(9);
        rank = static_cast<int>(random.up_to(static_cast<std::size_t>(ranks) - 1));
        if (kind >= 4) {
            function = functions[random.up_to(std::size(functions) - 1)];
            const bool is_rare = function.ends_with('!');
            nth = static_cast<int>(random.up_to(is_rare ? 1 : random.one_in(2) ? 3 : 60));
            at_end = random.one_in(3) && (function.starts_with("MPI_I") && function != "MPI_Iprobe" &&
                                          function != "MPI_Improbe" && !function.starts_with("MPI_Init"));
        }
        if (kind == 2 || function.ends_with('!')) throws_after = random.up_to(100);
        if (kind == 3 && ranks > 1) silent_after = random.from_to(50, 400);
        heartbeats = silent_after || random.one_in(2) || function.ends_with('!');
    }

    int rank = 0;  // that throws, or is silent
    std::string function;
    int nth = 0;
    bool at_end = false;
    std::optional<std::size_t> throws_after;
    std::optional<std::size_t> silent_after;
    bool heartbeats = false;
};

std::set<std::string> seen, failed;

class one_run {
  public:
    explicit one_run(std::uint64_t seed) : seed_(seed), plan_(seed), trouble_(plan_.random, plan_.ranks) {
        plan_.blocks = !trouble_.silent_after;
        // A collective operation that is to fail is called.
        const std::pair<const char*, std::size_t> kinds[] = {{"MPI_Ibarrier", 0},
                                                             {"MPI_Ireduce", 2},
                                                             {"MPI_Ibcast", 3},
                                                             {"MPI_Igather", 5},
                                                             {"MPI_Igatherv", 6}};
        for (const auto& each : kinds) {
            if (trouble_.function == each.first) plan_.collectives.push_back(each.second);
        }
        options_.own_thread = false;
        options_.failures.heartbeat = trouble_.heartbeats ? weir::duration(20ms) : weir::duration(0);
        options_.failures.dead_after = 400ms;
        options_.failures.grace = 100ms;
        options_.failures.status = 7;
    }

    // Nothing, or what was wrong.
    std::string run() {
        stand_in::reset(plan_.machine);
        const std::string function = name_of(trouble_.function);
        if (!function.empty()) stand_in::fail(function, trouble_.nth, MPI_ERR_INTERN, trouble_.at_end);
        if (function == "MPI_Error_class") stand_in::fail("MPI_Isend", 5, MPI_ERR_INTERN);
        if (function == "MPI_Query_thread") begin_mpi();
        try {
            rank_set ranks(seed_, plan_.ranks, options_);
            run(ranks);
        } catch (const std::logic_error& e) {
            check(!stand_in::failed().empty() && std::string(e.what()).find(stand_in::failed()[0].function +
                                                                            " failed") != std::string::npos,
                  std::string("the world is refused: ") + e.what());
            is_broken_ = true;
        }
        for (const std::string& each : stand_in::called()) seen.insert(each);
        for (const auto& each : stand_in::failed()) failed.insert(each.function);
        const stand_in::report left = stand_in::look();
        for (const std::string& each : left.wrong) check(false, each);
        if (is_broken_) return wrong_;
        check(left.communicators == 0, "communicators are left");
        check(trouble_.heartbeats || left.requests == 0, "requests are left");
        check(trouble_.heartbeats || left.messages == 0, "messages are left");
        return wrong_;
    }

  private:
    void check(bool is_right, const std::string& what) {
        if (!is_right) wrong_ += what + "\n";
    }
    // As a program that has initialised MPI itself.
    void begin_mpi() const {
        for (int r = 0; r < plan_.ranks; ++r) {
            int level = 0;
            stand_in::as(r);
            MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &level);
        }
    }

    void run(rank_set& ranks) {
        std::vector<bool> ended(static_cast<std::size_t>(plan_.ranks));
        int silent = -1;
        const auto all_ended = [&] {
            for (int r = 0; r < plan_.ranks; ++r) {
                if (r != silent && !ended[static_cast<std::size_t>(r)]) return false;
            }
            return true;
        };
        {
            work all(ranks, plan_);
            const auto one = [&](int r) -> weir::task<> {
                try {
                    const bool throws = trouble_.throws_after && r == trouble_.rank;
                    co_await all.run(r, throws ? trouble_.throws_after : std::nullopt);
                } catch (const weir::mpi::rank_failed&) {
                    check(!ranks.failure(r).empty(), "a rank heard of a failure that there is not");
                } catch (const std::exception& e) {
                    ranks.at(r).fail(e.what());  // as world::run does
                }
                ended[static_cast<std::size_t>(r)] = true;
            };
            std::vector<std::unique_ptr<weir::task_group>> groups;
            for (int r = 0; r < plan_.ranks; ++r) {
                groups.push_back(std::make_unique<weir::task_group>(ranks.loop(r)));
                groups.back()->spawn(one(r));
            }
            std::size_t num_steps = 0;
            ranks.run_until([&] {
                if (trouble_.silent_after && num_steps++ == *trouble_.silent_after) {
                    silent = trouble_.rank;
                    ranks.silence(silent);
                }
                return all_ended();
            });
            hear(ranks, silent);
            if (silent >= 0) {
                ranks.wake();
                ranks.at(silent).fail("it was silent");
                is_broken_ = true;
                silent = -1;
                ranks.run_until(all_ended);
            }
            wrong_ += all.wrong;
        }
        judge(ranks);
    }

    // After a failure: all ranks hear of it, and the job ends.
    void hear(rank_set& ranks, int silent) {
        const auto has_failed = [&](int r) { return !ranks.failure(r).empty(); };
        for (int r = 0; r < plan_.ranks; ++r) is_broken_ = is_broken_ || has_failed(r);
        if (!is_broken_) return;
        ranks.run_until([&] {
            if (!stand_in::look().aborted) return false;
            for (int r = 0; r < plan_.ranks; ++r) {
                if (r != silent && !has_failed(r)) return false;
            }
            return true;
        });
        check(stand_in::look().aborted == 7, "the job ends with another status");
        if (silent < 0 || trouble_.throws_after || !trouble_.function.empty()) return;
        const std::string expected = "weir: rank " + std::to_string(silent) + " failed: it was not heard of";
        for (int r = 0; r < plan_.ranks; ++r)
            check(r == silent || ranks.failure(r).starts_with(expected), "heard: " + ranks.failure(r));
    }

    void judge(rank_set& ranks) {
        if (trouble_.silent_after) return;
        std::string said = ranks.failure(0);
        const std::vector<stand_in::failed_call> hit = stand_in::failed();
        if (trouble_.throws_after) {
            check(!said.empty(), "nobody heard of the rank that threw");
            if (hit.empty())
                check(said == "weir: rank " + std::to_string(trouble_.rank) + " failed: the disk is full",
                      "heard: " + said);
            return;
        }
        if (hit.empty()) return check(said.empty(), "a failure without a reason: " + said);
        for (int r = 1; r < plan_.ranks; ++r)
            check(ranks.failure(r) == said, "heard: " + said + ", and: " + ranks.failure(r));
        const std::string function = hit[0].function;
        const bool is_of_heartbeats = hit[0].context.ends_with("/dup1") || function == "MPI_Get_count";
        const bool is_repeated = trouble_.function.ends_with('*') || is_of_heartbeats;
        if (said.empty()) return check(is_repeated, function + " failed, and nobody heard");
        check(said.find("MPI_ERR_INTERN") != std::string::npos, "heard: " + said);
        // The call that is asked what became of a receive has the receive's name.
        const std::string call = function == "MPI_Test_cancelled" ? "MPI_Irecv" : function;
        check(is_repeated || said.find(call) != std::string::npos, function + " failed; heard: " + said);
    }

    const std::uint64_t seed_;
    plan plan_;
    const trouble trouble_;
    weir::mpi::world_options options_;
    bool is_broken_ = false;
    std::string wrong_;
};

// The calls of MPI that never failed.
std::string unbroken() {
    std::string names;
    for (const std::string& each : seen) {
        if (!failed.contains(each)) names += ' ' + each;
    }
    return names;
}

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t runs = 1000;
    std::uint64_t seed = 1;
    for (int i = 1; i + 1 < argc; i += 2) {
        (std::string(argv[i]) == "--runs" ? runs : seed) = std::strtoull(argv[i + 1], nullptr, 10);
    }
    const auto begin = std::chrono::steady_clock::now();
    std::uint64_t failures = 0;
    for (std::uint64_t i = 0; i < runs && failures < 10; ++i) {
        const std::string wrong = one_run(seed + i).run();
        if (wrong.empty()) continue;
        ++failures;
        std::printf("seed %llu FAILED:\n%s", static_cast<unsigned long long>(seed + i), wrong.c_str());
    }
    if (const std::string names = unbroken(); runs >= 1000 && failures == 0 && !names.empty()) {
        ++failures;
        std::printf("calls that never failed:%s\n", names.c_str());
    }
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    std::printf("%llu runs, %llu failures, %.1f s\n", static_cast<unsigned long long>(runs),
                static_cast<unsigned long long>(failures), took.count());
    return failures == 0 ? 0 : 1;
}
