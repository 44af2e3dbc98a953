// weir sampling: the rank of this process among those that share the data, and the draws dealt to the rank
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_SAMPLING_SHARD_HPP
#define WEIR_SAMPLING_SHARD_HPP

#include <weir/platform/config.hpp>

#include <algorithm>     // for std::binary_search, std::lower_bound, std::max
#include <charconv>      // for std::from_chars
#include <concepts>      // for std::integral
#include <cstddef>       // for std::size_t
#include <cstdint>       // for std::uint32_t, std::uint64_t
#include <cstdlib>       // for std::getenv
#include <optional>      // for std::optional
#include <stdexcept>     // for std::invalid_argument
#include <string>        // for std::string
#include <string_view>   // for std::string_view
#include <system_error>  // for std::errc
#include <utility>       // for std::cmp_greater, std::move
#include <vector>        // for std::vector

namespace weir {

/// What happens to the last round of an epoch (pass over the data) if the round has fewer draws (samples)
/// than there are ranks. (In any other round, each rank gets one draw.)
enum class tail : std::uint8_t {
    exact,  ///< no draw is omitted or repeated: some ranks get one draw less than others
    drop,   ///< the round is omitted: some draws of the epoch, fewer than the ranks, are never given
    pad     ///< the round is filled up with draws from the front of the epoch, marked as padded
};

/// One of `world` processes that share the work. The processes are numbered from 0 by `rank`.
///
/// Threads: a value, like `int`.
class shard {
  public:
    /// All of the data: rank 0 of 1.
    constexpr shard() noexcept = default;

    /// \param rank   from 0 to world - 1; of any integer type, as `world` is.
    /// \param world  from 1 to 2^32 - 1.
    /// Errors: `std::invalid_argument` for other values.
    constexpr shard(std::integral auto rank, std::integral auto world)
        : rank_(static_cast<std::uint32_t>(rank)), world_(static_cast<std::uint32_t>(world)) {
        if (std::cmp_less(world, 1) || std::cmp_greater(world, UINT32_MAX) || std::cmp_less(rank, 0) ||
            std::cmp_greater_equal(rank, world)) {
            throw std::invalid_argument("weir: there is no rank " + std::to_string(rank) + " of " +
                                        std::to_string(world) +
                                        ": ranks go from 0 to world - 1, and world is at least 1");
        }
    }

    [[nodiscard]] constexpr std::uint32_t rank() const noexcept { return rank_; }    ///< from 0
    [[nodiscard]] constexpr std::uint32_t world() const noexcept { return world_; }  ///< at least 1

    /// Reads rank and world from the environment variables that the launcher of this process has set. The
    /// first row with a variable that is set decides:
    ///
    /// | launcher            | rank                   | world                  |
    /// |---------------------|------------------------|------------------------|
    /// | torchrun            | `RANK`                 | `WORLD_SIZE`           |
    /// | Open MPI's mpirun   | `OMPI_COMM_WORLD_RANK` | `OMPI_COMM_WORLD_SIZE` |
    /// | other MPIs' mpiexec | `PMI_RANK`             | `PMI_SIZE`             |
    /// | srun                | `SLURM_PROCID`         | `SLURM_NTASKS`         |
    ///
    /// Slurm comes last: if a batch script calls mpirun, Slurm's variables are set, too, but describe the
    /// script. For a program that a batch script calls without srun, Slurm's variables say rank 0 of many.
    ///
    /// \returns rank 0 of 1 if no variable is set; an empty variable counts as not set.
    /// Errors: `std::invalid_argument` with the name of the variable, if only one of the two is set, or if
    ///         they are not a valid rank and world.
    [[nodiscard]] static shard from_environment() { return from_environment(of_process); }

    /// The same as above, for variables that `look_up(name)` returns: each a text, or null if not set.
    template <class LookUp>
    [[nodiscard]] static shard from_environment(LookUp&& look_up) {
        constexpr const char* launchers[][2] = {{"RANK", "WORLD_SIZE"},
                                                {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
                                                {"PMI_RANK", "PMI_SIZE"},
                                                {"SLURM_PROCID", "SLURM_NTASKS"}};
        for (const auto& [rank_name, world_name] : launchers) {
            const std::optional<std::uint32_t> rank = read(look_up, rank_name);
            const std::optional<std::uint32_t> world = read(look_up, world_name);
            if (!rank && !world) continue;
            if (!rank || !world) {
                const std::string set = rank ? rank_name : world_name;
                const std::string missing = rank ? world_name : rank_name;
                throw std::invalid_argument(
                    "weir: of the environment variables, " + set + " is set and " + missing +
                    " is not; set both, or RANK=0 and WORLD_SIZE=1 for a process of its own");
            }
            if (*rank >= *world) {
                throw std::invalid_argument("weir: the environment says " + std::string(rank_name) + "=" +
                                            std::to_string(*rank) + " and " + world_name + "=" +
                                            std::to_string(*world) + "; ranks go from 0 to world - 1");
            }
            return {*rank, *world};
        }
        return {};
    }

    /// The number of this process on its machine, from 0; for instance, to choose a GPU. Reads the first
    /// variable that is set of `LOCAL_RANK`, `OMPI_COMM_WORLD_LOCAL_RANK`, `MPI_LOCALRANKID` and
    /// `SLURM_LOCALID`.
    ///
    /// \returns the value of the variable; 0 if no variable is set. An empty variable counts as not set.
    /// Errors: `std::invalid_argument` if the variable is not a number.
    [[nodiscard]] static std::uint32_t local_rank_from_environment() {
        return local_rank_from_environment(of_process);
    }
    /// The same as above, for variables that `look_up(name)` returns: each a text, or null if not set.
    template <class LookUp>
    [[nodiscard]] static std::uint32_t local_rank_from_environment(LookUp&& look_up) {
        for (const char* name :
             {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "SLURM_LOCALID"}) {
            if (const auto rank = read(look_up, name)) return *rank;
        }
        return 0;
    }

    [[nodiscard]] friend constexpr bool operator==(const shard&, const shard&) = default;

  private:
    static const char* of_process(const char* name) {
        return std::getenv(name);  // NOLINT(concurrency-mt-unsafe): the library sets no variable
    }

    template <class LookUp>
    static std::optional<std::uint32_t> read(LookUp& look_up, const char* name) {
        const char* const found = look_up(name);
        if (found == nullptr || *found == '\0') return std::nullopt;
        const std::string_view text(found);
        std::uint32_t value = 0;
        const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
        if (error != std::errc{} || end != text.data() + text.size()) {
            throw std::invalid_argument("weir: the environment variable " + std::string(name) + " is '" +
                                        std::string(text) +
                                        "', which is not a whole number from 0 to 4294967295");
        }
        return value;
    }

    std::uint32_t rank_ = 0;
    std::uint32_t world_ = 1;
};

}  // namespace weir

namespace weir::detail {

// The positions (numbers of draws) of an endless sequence of epochs that are dealt to one rank.
//
// Epoch e has the positions e * size to (e + 1) * size - 1. Positions below `base`, and those in `taken`, are
// dealt to no rank: earlier runs took them, or their epoch is over. Of the remaining positions of each epoch,
// number k (from 0) is dealt to rank k % world. With `drop`, an incomplete last round is not dealt.
//
// Cost: each function O(log t), for t positions in `taken`.
class shard_partition {
    using u64 = std::uint64_t;

  public:
    // Not a position; greater than all positions.
    static constexpr u64 none = UINT64_MAX;

    // `taken`: ascending, none below `base`. Requires rank < world.
    shard_partition(u64 size, u64 base, std::vector<u64> taken, u64 rank, u64 world, bool drop)
        : size_(size), base_(base), rank_(rank), world_(world), taken_(std::move(taken)), drop_(drop) {}

    u64 epoch_of(u64 position) const noexcept { return size_ == 0 ? 0 : position / size_; }
    u64 first_epoch() const noexcept { return epoch_of(base_); }

    // Whether all positions of the epoch are less than `none`. The functions below require this of their
    // parameter `epoch`.
    bool has(u64 epoch) const noexcept { return size_ == 0 || epoch < UINT64_MAX / size_; }

    // The number of positions of an epoch that remain, for all ranks together.
    u64 remaining(u64 epoch) const noexcept {
        const part p = of(epoch);
        return p.end <= p.begin ? 0 : p.end - p.begin - (p.last - p.first);
    }

    // The number of remaining positions of an epoch that are dealt to this rank.
    u64 share(u64 epoch) const noexcept { return share_of(remaining(epoch)); }
    // Whether the last round of an epoch is incomplete and has no draw for this rank: with `tail::pad`, the
    // rank gets a padded draw.
    bool lacks(u64 epoch) const noexcept {
        const u64 rest = remaining(epoch) % world_;
        return rest != 0 && rank_ >= rest;
    }

    // Position number j of those that are dealt to this rank in an epoch. Requires j < share(epoch).
    u64 at(u64 epoch, u64 j) const noexcept { return select(of(epoch), j * world_ + rank_); }

    // The position of this rank's padded draw, if `lacks(epoch)`: padding repeats the draws from the front of
    // the epoch.
    u64 repeated(u64 epoch) const noexcept {
        return epoch * size_ + (rank_ - remaining(epoch) % world_) % size_;
    }

    // Whether a position is dealt to this rank.
    bool owns(u64 position) const noexcept {
        const u64 epoch = epoch_of(position);
        if (size_ == 0 || position < base_ || !has(epoch)) return false;
        if (std::binary_search(taken_.begin(), taken_.end(), position)) return false;
        const u64 k = before(of(epoch), position);
        return k % world_ == rank_ && k / world_ < share(epoch);
    }

    // The first position from `position` on that is dealt to this rank; `none` if there is no such position.
    u64 next_own(u64 position) const noexcept {
        if (size_ == 0 || position == none) return none;
        position = (std::max)(position, base_);
        u64 epoch = epoch_of(position);
        for (; has(epoch); position = ++epoch * size_) {
            const part p = of(epoch);
            const u64 k = before(p, position);
            const u64 j = k <= rank_ ? 0 : (k - rank_ - 1) / world_ + 1;
            if (j < share(epoch)) return select(p, j * world_ + rank_);
            // All later epochs have no taken positions, and give this rank equally many draws: none.
            if (p.last == taken_.size() && share_of(size_) == 0) return none;
        }
        return none;
    }

  private:
    // The remaining positions of an epoch: [begin, end) without taken_[first] to taken_[last - 1].
    struct part {
        u64 begin, end;
        std::size_t first, last;
    };
    part of(u64 epoch) const noexcept {
        const u64 begin = (std::max)(epoch * size_, base_);
        const u64 end = epoch * size_ + size_;
        return {begin, end, index_of(begin), index_of(end)};
    }
    // The number of taken positions before `position`.
    std::size_t index_of(u64 position) const noexcept {
        const auto found = std::lower_bound(taken_.begin(), taken_.end(), position);
        return static_cast<std::size_t>(found - taken_.begin());
    }

    // The number of remaining positions of a part before `position`.
    u64 before(const part& p, u64 position) const noexcept {
        return position - p.begin - (index_of(position) - p.first);
    }

    // Remaining position number k of a part. Before it are the taken positions that have at most k remaining
    // positions before them.
    u64 select(const part& p, u64 k) const noexcept {
        std::size_t low = p.first, high = p.last;
        while (low < high) {
            const std::size_t middle = low + (high - low) / 2;
            if (taken_[middle] - p.begin - (middle - p.first) <= k) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return p.begin + k + (low - p.first);
    }

    u64 share_of(u64 remaining) const noexcept {
        return remaining / world_ + (!drop_ && rank_ < remaining % world_ ? 1 : 0);
    }

    u64 size_, base_, rank_, world_;
    std::vector<u64> taken_;
    bool drop_;
};

}  // namespace weir::detail

#endif
