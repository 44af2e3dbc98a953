// weir mpi: one checkpoint of all ranks, and epochs that all ranks end together
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_JOB_CHECKPOINT_HPP
#define WEIR_MPI_JOB_CHECKPOINT_HPP

#include <weir/mpi/communicator.hpp>
#include <weir/mpi/owned_comm.hpp>
#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/checkpoint_file.hpp>
#include <weir/sampling/shard.hpp>
#include <weir/task/task.hpp>

#include <cstddef>    // for std::byte
#include <exception>  // for std::exception
#include <optional>   // for std::nullopt, std::optional
#include <span>       // for std::as_bytes, std::span
#include <stdexcept>  // for std::runtime_error
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace weir::mpi {

namespace detail {

// What rank 0 tells all ranks: bytes, or why it has none.
class answer {
  public:
    // Calls `f`, which returns bytes, or throws the reason. All ranks do so, but only the answer of rank 0 is
    // sent.
    template <class F>
    explicit answer(F&& f) {
        try {
            bytes_ = f();
            bytes_.push_back(std::byte{1});
        } catch (const std::exception& e) {
            const auto why = std::as_bytes(std::span(std::string_view(e.what())));
            bytes_.assign(why.begin(), why.end());
            bytes_.push_back(std::byte{0});
        }
    }
    explicit answer(std::vector<std::byte> told) : bytes_(std::move(told)) {}

    const std::vector<std::byte>& told() const noexcept { return bytes_; }

    // Errors: `std::runtime_error` with the reason, if there is one.
    std::span<const std::byte> value() const {
        const std::span<const std::byte> rest = std::span(bytes_).first(bytes_.size() - 1);
        if (bytes_.back() == std::byte{1}) return rest;
        throw std::runtime_error(std::string(reinterpret_cast<const char*>(rest.data()), rest.size()));
    }

  private:
    std::vector<std::byte> bytes_;
};

}  // namespace detail

/// Collective: merges the checkpoints of all ranks, and saves the result in a file, which rank 0 writes.
/// A job with any number of ranks can resume from it. Ranks need not stop at the same draw (sample).
///
///     weir::sampler mine({.size = n, .shard = {all.rank(), all.size()}, .resume = earlier});
///     weir::progress done(mine.start());
///     co_await weir::mpi::save_checkpoint(all, "job.weir", done.checkpoint());   // now and then
///
/// \param path  on rank 0's machine. After a crash the file has the old or the new content, never a part.
/// \param mine  the checkpoint of this rank, such as `run.checkpoint()`.
/// \returns  nothing: the file has been stored.
/// Suspends: until all ranks have called this and the file has been stored. Resumes: on the coroutine's
///           executor. A thread of rank 0's executor waits for the storage.
/// Errors:   on all ranks, `std::runtime_error` with the reason if the file can't be written, or if the
///           checkpoints are of different runs; the errors of `communicator`. The earlier file stays.
inline task<> save_checkpoint(communicator all, std::string path, checkpoint mine) {
    detail::leaked_on_failure<std::vector<std::byte>> bytes(all, mine.to_bytes());
    const std::vector<std::vector<std::byte>> parts = co_await all.gather_bytes(*bytes, 0);
    detail::answer done([&] {
        std::vector<checkpoint> ranks;
        for (const auto& each : parts) ranks.push_back(checkpoint::from_bytes(each));
        if (all.rank() == 0) weir::save_checkpoint(path, checkpoint::merge(ranks));
        return std::vector<std::byte>();
    });
    std::vector<std::byte> told = co_await all.broadcast_bytes(done.told(), 0);
    static_cast<void>(detail::answer(std::move(told)).value());
}

/// Collective: loads the checkpoint that all ranks resume from. Rank 0 reads the file.
/// \returns  the checkpoint, the same on all ranks; empty if there is no such file.
/// Suspends: until rank 0 has read the file. Resumes: on the coroutine's executor.
/// Errors:   on all ranks, `std::runtime_error` with the path and what is wrong, if the file is cut short,
///           was changed or can't be read; the errors of `communicator`.
inline task<std::optional<checkpoint>> load_checkpoint(communicator all, std::string path) {
    detail::answer found([&] {
        std::optional<checkpoint> read;
        if (all.rank() == 0) read = weir::load_checkpoint(path);
        return read ? read->to_bytes() : std::vector<std::byte>();
    });
    std::vector<std::byte> told = co_await all.broadcast_bytes(found.told(), 0);
    const detail::answer heard(std::move(told));
    std::optional<checkpoint> result;
    if (!heard.value().empty()) result = checkpoint::from_bytes(heard.value());
    co_return result;
}

/// Collective: whether all ranks do one more step together. So a rank whose items have ended does not leave
/// the others waiting in their next collective operation:
///
///     auto item = co_await run.next();
///     while (co_await weir::mpi::another_round(all, item.has_value(), weir::tail::exact)) {
///         ...  // a step of all ranks, also of those without an item
///         item = co_await run.next();
///     }
///
/// \param uneven  `exact`: as long as a rank has an item; the others take part without one. `drop`: as long
///                as all ranks have an item; items that some ranks have left are not to be recorded as taken.
///                `pad`: as `exact`; a rank without an item repeats an earlier one, which is not to be
///                counted again.
/// \returns  true for one more step; the same on all ranks.
/// Suspends: until all ranks have called this. Resumes: on the coroutine's executor.
/// Errors:   those of `communicator`. Cost: a reduction of one number.
inline task<bool> another_round(communicator all, bool has_item, tail uneven) {
    detail::leaked_on_failure<int> more(all, has_item ? 1 : 0);
    const reduction how = uneven == tail::drop ? reduction::smallest : reduction::largest;
    co_await all.all_reduce(std::span(&*more, 1), how);
    co_return *more != 0;
}

}  // namespace weir::mpi

#endif
