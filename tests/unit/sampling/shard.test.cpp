#include <weir/sampling/shard.hpp>

#include "support/catch.hpp"

#include <weir/platform/numbers.hpp>

#include <cstdint>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using weir::shard;
using weir::detail::shard_partition;
using u64 = std::uint64_t;

static_assert(std::is_trivially_copyable_v<shard>);
static_assert(shard(2, 4).rank() == 2 && shard(2, 4).world() == 4);

namespace {

// An environment that is not this process's.
class environment {
  public:
    environment(std::initializer_list<std::pair<const std::string, std::string>> set) : set_(set) {}

    const char* operator()(const char* name) const {
        const auto found = set_.find(name);
        return found == set_.end() ? nullptr : found->second.c_str();
    }

  private:
    std::map<std::string, std::string> set_;
};

std::string refusal(const environment& e) {
    try {
        static_cast<void>(shard::from_environment(e));
    } catch (const std::invalid_argument& refused) {
        return refused.what();
    }
    return "accepted";
}

}  // namespace

TEST_CASE("a shard is all of it unless something else is said") {
    CHECK(shard() == shard(0, 1));
    CHECK(shard() != shard(0, 2));
    const std::int64_t rank = 3;
    const std::size_t world = 4;
    CHECK(shard{rank, world} == shard(3, 4));
}

TEST_CASE("a shard that can't be is refused, whatever the type of its numbers") {
    CHECK_THROWS_WITH(shard(4, 4), ContainsSubstring("weir: there is no rank 4 of 4: ranks go from 0"));
    CHECK_THROWS_AS(shard(0, 0), std::invalid_argument);
    CHECK_THROWS_AS(shard(-1, 4), std::invalid_argument);
    CHECK_THROWS_AS(shard(0, -1), std::invalid_argument);
    CHECK_THROWS_AS(shard(0, std::int64_t{1} << 32), std::invalid_argument);
    CHECK_THROWS_AS(shard(std::int64_t{1} << 32, (std::int64_t{1} << 32) + 1), std::invalid_argument);
    CHECK(shard(0U, UINT32_MAX).world() == UINT32_MAX);
}

TEST_CASE("each launcher's variables are understood") {
    CHECK(shard::from_environment(environment({})) == shard(0, 1));
    CHECK(shard::from_environment(environment({{"RANK", "5"}, {"WORLD_SIZE", "8"}})) == shard(5, 8));
    CHECK(shard::from_environment(
              environment({{"OMPI_COMM_WORLD_RANK", "0"}, {"OMPI_COMM_WORLD_SIZE", "2"}})) == shard(0, 2));
    CHECK(shard::from_environment(environment({{"PMI_RANK", "2"}, {"PMI_SIZE", "3"}})) == shard(2, 3));
    CHECK(shard::from_environment(environment({{"SLURM_PROCID", "1"}, {"SLURM_NTASKS", "4"}})) ==
          shard(1, 4));
}

TEST_CASE("torchrun says more than mpirun, and mpirun more than Slurm") {
    // As in a batch script of Slurm that calls mpirun: Slurm's variables are those of the script.
    environment both({{"SLURM_PROCID", "0"},
                      {"SLURM_NTASKS", "4"},
                      {"OMPI_COMM_WORLD_RANK", "3"},
                      {"OMPI_COMM_WORLD_SIZE", "4"}});
    CHECK(shard::from_environment(both) == shard(3, 4));
    CHECK(shard::from_environment(environment(
              {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"PMI_RANK", "1"}, {"PMI_SIZE", "4"}})) ==
          shard(1, 4));
    CHECK(shard::from_environment(environment({{"RANK", "6"},
                                               {"WORLD_SIZE", "8"},
                                               {"OMPI_COMM_WORLD_RANK", "0"},
                                               {"OMPI_COMM_WORLD_SIZE", "1"}})) == shard(6, 8));
}

TEST_CASE("a variable without its fellow is refused, by name") {
    CHECK_THAT(refusal({{"RANK", "0"}}), ContainsSubstring("RANK is set and WORLD_SIZE is not"));
    CHECK_THAT(refusal({{"WORLD_SIZE", "8"}}), ContainsSubstring("WORLD_SIZE is set and RANK is not"));
    CHECK_THAT(refusal({{"SLURM_NTASKS", "8"}}),
               ContainsSubstring("SLURM_NTASKS is set and SLURM_PROCID is not"));
    CHECK_THAT(refusal({{"RANK", "0"}, {"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}}),
               ContainsSubstring("WORLD_SIZE is not"));
    CHECK(refusal({{"RANK", ""}, {"WORLD_SIZE", ""}}) == "accepted");
}

TEST_CASE("what is no rank and world is refused, by name") {
    for (const char* wrong : {"two", "-1", "+1", " 1", "1 ", "1.5", "0x1", "4294967296", "1e3"}) {
        CAPTURE(wrong);
        CHECK_THAT(refusal({{"RANK", wrong}, {"WORLD_SIZE", "8"}}),
                   ContainsSubstring("variable RANK is '" + std::string(wrong) + "'"));
        CHECK_THAT(refusal({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", wrong}}),
                   ContainsSubstring("variable SLURM_NTASKS is '" + std::string(wrong) + "'"));
    }
    CHECK_THAT(refusal({{"RANK", "8"}, {"WORLD_SIZE", "8"}}),
               ContainsSubstring("RANK=8 and WORLD_SIZE=8; ranks go from 0"));
    CHECK_THAT(refusal({{"PMI_RANK", "0"}, {"PMI_SIZE", "0"}}), ContainsSubstring("PMI_SIZE=0"));
}

TEST_CASE("the local rank is the first that a launcher says") {
    const auto local = [](const environment& e) { return shard::local_rank_from_environment(e); };
    CHECK(local({}) == 0);
    CHECK(local({{"LOCAL_RANK", "3"}}) == 3);
    CHECK(local({{"OMPI_COMM_WORLD_LOCAL_RANK", "2"}}) == 2);
    CHECK(local({{"MPI_LOCALRANKID", "1"}, {"SLURM_LOCALID", "0"}}) == 1);
    CHECK(local({{"SLURM_LOCALID", "4"}}) == 4);
    CHECK(local({{"SLURM_LOCALID", "4"}, {"LOCAL_RANK", "1"}}) == 1);
    CHECK_THROWS_WITH(local({{"LOCAL_RANK", "gpu1"}}), ContainsSubstring("LOCAL_RANK is 'gpu1'"));
}

TEST_CASE("the process's own environment can be asked") {
    // Whatever it says here, it is answered or refused.
    try {
        const shard here = shard::from_environment();
        CHECK(here.rank() < here.world());
        static_cast<void>(shard::local_rank_from_environment());
    } catch (const std::invalid_argument& refused) {
        CHECK_THAT(refused.what(), ContainsSubstring("weir: "));
    }
}

namespace {

// The positions of an epoch that remain, listed.
std::vector<u64> rest_of(u64 epoch, u64 size, u64 base, const std::vector<u64>& taken) {
    const std::set<u64> gone(taken.begin(), taken.end());
    std::vector<u64> rest;
    for (u64 p = epoch * size; p < (epoch + 1) * size; ++p) {
        if (p >= base && !gone.contains(p)) rest.push_back(p);
    }
    return rest;
}

// Compares every answer with what a list of the first epochs gives.
bool agrees(u64 size, u64 base, const std::vector<u64>& taken, u64 rank, u64 world, bool drop) {
    const shard_partition dealt(size, base, taken, rank, world, drop);
    const u64 first = base / size, last = first + 4;
    bool good = dealt.first_epoch() == first;
    std::vector<u64> own;
    for (u64 e = first; e <= last; ++e) {
        const std::vector<u64> rest = rest_of(e, size, base, taken);
        const u64 given = drop ? rest.size() / world * world : rest.size();
        std::vector<u64> mine;
        for (u64 k = rank; k < given; k += world) mine.push_back(rest[k]);
        good = good && dealt.has(e) && dealt.remaining(e) == rest.size() && dealt.share(e) == mine.size();
        for (u64 j = 0; good && j < mine.size(); ++j) good = dealt.at(e, j) == mine[j];
        const u64 in_last = rest.size() % world;
        good = good && dealt.lacks(e) == (in_last != 0 && rank >= in_last);
        if (dealt.lacks(e)) good = good && dealt.repeated(e) == e * size + (rank - in_last) % size;
        own.insert(own.end(), mine.begin(), mine.end());
    }
    std::size_t next = 0;
    for (u64 p = 0; good && p < (last + 1) * size; ++p) {
        while (next < own.size() && own[next] < p) ++next;
        good = dealt.owns(p) == (next < own.size() && own[next] == p);
        if (next < own.size()) good = good && dealt.next_own(p) == own[next];
    }
    return good;
}

}  // namespace

TEST_CASE("each question to a deal is answered as a list would be") {
    // Small cases, all of them: the sets of taken ones are the bits of a number.
    for (u64 size = 1; size <= 5; ++size) {
        for (u64 world = 1; world <= 4; ++world) {
            CAPTURE(size, world);
            bool good = true;
            for (u64 base = 0; base <= size; ++base) {
                for (u64 bits = 0; bits < 256; bits += base % 2 == 0 ? 1 : 5) {
                    std::vector<u64> taken;
                    for (u64 b = 0; b < 8; ++b) {
                        if ((bits >> b & 1) != 0) taken.push_back(base + b);
                    }
                    for (u64 rank = 0; rank < world; ++rank) {
                        good = good && agrees(size, base, taken, rank, world, false) &&
                               agrees(size, base, taken, rank, world, true);
                    }
                }
            }
            CHECK(good);
        }
    }
}

TEST_CASE("so it is with larger epochs") {
    bool good = true;
    for (u64 i = 0; i < 200; ++i) {
        const auto below = [&, n = u64{0}](u64 most) mutable {
            return weir::detail::splitmix64(i, n++) % most;
        };
        u64 size = 1 + i % 50, base = (i * 7) % (3 * size), world = 1 + i % 9;
        std::vector<u64> taken;
        auto random = below;
        for (u64 p = base; p < base + 2 * size; ++p) {
            if (random(3) == 0) taken.push_back(p);
        }
        for (u64 rank = 0; rank < world; ++rank) {
            good = good && agrees(size, base, taken, rank, world, i % 2 == 0);
        }
    }
    CHECK(good);
}

TEST_CASE("a rank that gets nothing of any epoch has no next position") {
    CHECK(shard_partition(3, 0, {}, 3, 8, false).next_own(0) == shard_partition::none);
    CHECK(shard_partition(3, 0, {}, 2, 8, false).next_own(3) == 5);
    CHECK(shard_partition(3, 0, {}, 2, 8, true).next_own(0) == shard_partition::none);
    // In the third epoch the others have taken all but one, which is rank 0's.
    CHECK(shard_partition(3, 0, {6, 8}, 1, 8, false).next_own(5) == 10);
    CHECK(shard_partition(3, 0, {6, 8}, 0, 8, false).next_own(4) == 7);
    // No epoch has anything.
    CHECK(shard_partition(0, 0, {}, 0, 1, false).next_own(0) == shard_partition::none);
    CHECK(shard_partition(0, 0, {}, 0, 1, false).share(7) == 0);
    CHECK_FALSE(shard_partition(0, 0, {}, 0, 1, false).owns(0));
}

TEST_CASE("positions end before the numbers do") {
    const u64 half = u64{1} << 63;
    const shard_partition one(half, 0, {}, 0, 1, false);
    CHECK(one.has(0));
    CHECK_FALSE(one.has(1));
    CHECK(one.next_own(half - 1) == half - 1);
    CHECK(one.next_own(half) == shard_partition::none);
    CHECK_FALSE(one.owns(half));

    const shard_partition most(UINT64_MAX, 0, {}, 0, 2, false);
    CHECK(most.share(0) == half);
    CHECK(most.at(0, half - 1) == UINT64_MAX - 1);
    CHECK(most.next_own(UINT64_MAX - 1) == UINT64_MAX - 1);
    CHECK(most.next_own(UINT64_MAX) == shard_partition::none);
    CHECK_FALSE(most.owns(UINT64_MAX));
}
