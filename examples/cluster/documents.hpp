// cluster: what a rank that prepares does to a file, and what it sends to the rank that trains.
// A file that can't be read is sent, too, without tokens: it is done, and does not come again.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXAMPLES_CLUSTER_DOCUMENTS_HPP
#define WEIR_EXAMPLES_CLUSTER_DOCUMENTS_HPP

#include "../corpus/files.hpp"
#include "../corpus/tokens.hpp"
#include "settings.hpp"

#include <weir/sampling/checkpoint.hpp>
#include <weir/sampling/sampler.hpp>

#include <time.h>  // for clock_gettime, timespec

#include <algorithm>    // for std::ranges::sort
#include <chrono>       // for std::chrono::duration, std::chrono::seconds
#include <cstdint>      // for std::uint64_t
#include <optional>     // for std::optional
#include <ratio>        // for std::nano
#include <string>       // for std::string
#include <string_view>  // for std::string_view
#include <thread>       // for std::this_thread::sleep_for
#include <utility>      // for std::move
#include <vector>       // for std::vector

namespace cluster {

constexpr std::size_t max_bytes = 64'000'000;
/// Of each file, as much is tokenized: files take about equally long, so that few show which rank is slow.
constexpr std::size_t most_text = 20'000;

/// What goes from rank to rank: the rank that has prepared, the position of the file's draw, and the tokens.
using message = std::vector<corpus::token>;

/// A file that was read.
struct document {
    weir::draw of;
    std::string bytes;
};

/// The files below a directory, in the same order on all ranks.
inline std::vector<std::string> files_in(const std::string& directory) {
    std::vector<std::string> all;
    for (std::string path : corpus::walk(directory, nullptr)) all.push_back(std::move(path));
    std::ranges::sort(all);
    return all;
}

/// The files that a rank prepares: its part of those that were not trained on before.
inline weir::sampler sampler_of(int rank, int ranks, std::size_t files,
                                const std::optional<weir::checkpoint>& from) {
    return weir::sampler({.size = files, .seed = 1, .shard = {rank - 1, ranks - 1}, .resume = from});
}

inline document read(const weir::draw& of, const std::vector<std::string>& files) {
    try {
        return {of, corpus::read_file(files.at(of.index), max_bytes)};
    } catch (const corpus::file_error&) {
        return {of, {}};
    }
}

inline message tokenize(const document& doc, int rank) {
    message m = {rank, static_cast<corpus::token>(doc.of.position)};
    corpus::tokenizer tokens(std::string_view(doc.bytes).substr(0, most_text));
    while (const auto next = tokens.next()) m.push_back(*next);
    return m;
}

/// \returns the time that the processor has spent on this thread. Other threads take none of it.
inline std::chrono::duration<double> processor_time() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return std::chrono::seconds(t.tv_sec) + std::chrono::duration<double, std::nano>(t.tv_nsec);
}

/// \returns the function, which takes `factor` times as long as before on the rank and in the stage of `--slow`.
template <class F>
auto slowed(const settings& s, int rank, const std::string& stage, F function) {
    const double factor = rank == s.slow_rank && stage == s.slow_stage ? s.slow_factor : 1;
    return [factor, function](const auto& item) {
        const auto begin = processor_time();
        auto result = function(item);
        const auto more = (processor_time() - begin) * (factor - 1);
        if (factor > 1) std::this_thread::sleep_for(more);
        return result;
    };
}

}  // namespace cluster

#endif
