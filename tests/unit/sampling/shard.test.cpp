#include <weir/sampling/shard.hpp>

#include "support/catch.hpp"

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <type_traits>

using Catch::Matchers::ContainsSubstring;
using weir::shard;

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
