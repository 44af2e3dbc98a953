#include <weir/mpi/job_checkpoint.hpp>

#include "mpi/support.hpp"
#include "support/folder.hpp"

#include <weir/sampling/sampler.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

using namespace mpi_tests;
using Catch::Matchers::ContainsSubstring;
using weir::checkpoint;
using weir::tail;

namespace {

using positions = std::vector<std::uint64_t>;

constexpr std::uint64_t epochs = 3;

// A job that is killed after some rounds, and its successors.
struct job {
    std::uint64_t size;
    std::uint64_t seed;
    std::string path;
    positions taken;  // as of the last checkpoint

    // One rank, until `rounds` are over or all is taken. Items are taken out of order; what was taken since the
    // last checkpoint is lost with the rank.
    weir::task<> run(communicator all, int rounds) {
        const std::optional<checkpoint> earlier = co_await weir::mpi::load_checkpoint(all, path);
        weir::sampler_options options;
        options.size = size;
        options.seed = seed;
        options.shard = weir::shard(all.rank(), all.size());
        options.resume = earlier;
        weir::sampler mine(options);
        weir::progress done(mine.start());
        std::mt19937_64 random(seed * 100 + static_cast<std::uint64_t>(all.rank()));
        std::vector<weir::draw> given;
        positions since;
        for (int round = 0; round < rounds; ++round) {
            while (given.size() < 4) {
                const auto d = mine.next_before(epochs);
                if (!d) break;
                given.push_back(*d);
            }
            const bool more = co_await weir::mpi::another_round(all, !given.empty(), tail::exact);
            if (more && !given.empty()) {
                const std::size_t which = random() % given.size();
                done.took(given[which]);
                since.push_back(given[which].position);
                given.erase(given.begin() + static_cast<std::ptrdiff_t>(which));
            }
            if (round % 5 == 4 || !more) {
                co_await weir::mpi::save_checkpoint(all, path, done.checkpoint());
                taken.insert(taken.end(), since.begin(), since.end());
                since.clear();
            }
            if (!more) break;
        }
    }
};

}  // namespace

TEST_CASE("jobs of 4, 3 and 8 ranks, killed at any round, take each draw once") {
    const files::folder here("weir job_checkpoint test");
    std::mt19937_64 random(1);
    for (std::uint64_t seed = 1; seed <= 40; ++seed) {
        CAPTURE(seed);
        job one{20 + random() % 60, seed, here / std::to_string(seed).c_str(), {}};
        for (const int world : {4, 3, 8, 8}) {
            cluster ranks(world, seed);
            const int rounds = ranks.all.draw(2) == 0 ? 7 : static_cast<int>(random() % 12);
            CHECK(ranks.run([&](communicator c) { return one.run(std::move(c), rounds); }) == 0);
        }
        cluster last(2, seed);
        CHECK(last.run([&](communicator c) { return one.run(std::move(c), 1'000); }) == 0);
        std::sort(one.taken.begin(), one.taken.end());
        positions all(one.size * epochs);
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
        CHECK(one.taken == all);
    }
}

TEST_CASE("a file that can't be read or written is an error of all ranks, with the reason") {
    const files::folder here("weir job_checkpoint test");
    const std::string path = here / "job.weir";
    const auto save = [](std::string to) {
        return [to](communicator c) -> weir::task<> {
            weir::sampler_options options;
            options.size = 10;
            options.shard = weir::shard(c.rank(), c.size());
            co_await weir::mpi::save_checkpoint(c, to, weir::sampler(options).start());
        };
    };
    const auto load = [&path](communicator c) -> weir::task<> {
        const auto found = co_await weir::mpi::load_checkpoint(c, path);
        CHECK(!found);
    };
    cluster ranks(3);
    CHECK(ranks.run(load) == 0);
    CHECK(ranks.run(save(path)) == 0);
    std::ofstream(path, std::ios::binary) << files::text_of(path).substr(0, 20);
    CHECK(ranks.run(load) == 3);
    CHECK_THAT(ranks.message, ContainsSubstring("job.weir: weir: these bytes are no checkpoint"));
    CHECK(ranks.run(save(here / "none/job.weir")) == 3);
    CHECK_THAT(ranks.message, ContainsSubstring("none/job.weir"));
}

TEST_CASE("checkpoints of different runs are refused on all ranks") {
    const files::folder here("weir job_checkpoint test");
    const std::string path = here / "job.weir";
    cluster ranks(2);
    const int refused = ranks.run([&](communicator c) -> weir::task<> {
        weir::sampler_options options;
        options.size = 10;
        options.seed = static_cast<std::uint64_t>(c.rank());
        options.shard = weir::shard(c.rank(), c.size());
        co_await weir::mpi::save_checkpoint(c, path, weir::sampler(options).start());
    });
    CHECK(refused == 2);
    CHECK_THAT(ranks.message, ContainsSubstring("can't be merged"));
    CHECK(!weir::load_checkpoint(path));
}

TEST_CASE("ranks with fewer items than others end together, by the policy") {
    // Rank r has 3 + r items.
    for (const auto& [policy, expected] : {std::pair(tail::exact, 5), {tail::pad, 5}, {tail::drop, 3}}) {
        cluster ranks(3);
        int rounds = 0;
        const int failed = ranks.run([&rounds, how = policy](communicator c) -> weir::task<> {
            int left = 3 + c.rank();
            while (true) {
                const bool more = co_await weir::mpi::another_round(c, left > 0, how);
                if (!more) break;
                rounds += c.rank() == 1 ? 1 : 0;
                --left;
                co_await c.barrier();  // a step of all ranks
            }
        });
        CHECK(failed == 0);
        CHECK(rounds == expected);
    }
}
