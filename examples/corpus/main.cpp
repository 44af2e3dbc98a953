// corpus: turns a directory tree of text files into batches of tokens, as a training loader does,
// and says where the time went. The main example: every kind of stage does real work in it.
// SPDX-License-Identifier: BSL-1.0
#include "../common/interrupt.hpp"
#include "../common/output.hpp"
#include "batch.hpp"
#include "files.hpp"
#include "foreground.hpp"
#include "report.hpp"
#include "settings.hpp"
#include "stages.hpp"

#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/report/live_view.hpp>
#include <weir/report/log.hpp>
#include <weir/report/table.hpp>
#include <weir/stages/pipeline.hpp>

#include <cstddef>    // for std::size_t
#include <exception>  // for std::exception
#include <iostream>   // for std::cout
#include <memory>     // for std::make_shared
#include <string>     // for std::string
#include <utility>    // for std::move
#include <vector>     // for std::vector

namespace {

using namespace corpus;

// Paths per task: enough that the cost of a task does not matter, and few enough to spread over slots.
constexpr std::size_t paths_per_read = 8;

int run_corpus(const settings& s) {
    std::cerr << "counting the files of " << s.directory << " ..." << std::endl;
    const auto view = std::make_shared<weir::live_view>(
        weir::live_view_options{.total = count_files(s.directory), .counted = "walk"});

    books books;
    const auto length = static_cast<std::size_t>(s.sequence);
    const auto rows = static_cast<std::size_t>(s.batch);
    const auto capacity = static_cast<std::size_t>(s.capacity);
    const auto reads = static_cast<std::size_t>(s.read_concurrency);
    const auto tokenizers = static_cast<std::size_t>(s.tokenize_concurrency);

    // Reading blocks its thread, so it gets threads of its own.
    weir::thread_pool workers(static_cast<unsigned>(s.workers));
    weir::blocking_pool io(static_cast<unsigned>(reads));

    const auto files = [&] { return walk(s.directory, &books); };
    const auto read = [&](const std::vector<std::string>& paths) {
        return read_all(paths, s.max_bytes(), books);
    };
    const auto to_tokens = [&](document doc) {
        return tokenize(std::move(doc), length, s.max_bytes(), &books);
    };
    const auto to_batch = [&](const std::vector<sequence>& some) { return collate(some, length); };

    // clang-format off
    auto pipeline = weir::source(files, {.name = "walk", .capacity = capacity})
                  | weir::aggregate(paths_per_read, {.name = "group", .capacity = capacity})
                  | weir::pipe(read, {.name = "read", .concurrency = reads,
                                      .executor = &io, .capacity = capacity})
                  | weir::disaggregate({.name = "ungroup", .capacity = capacity})
                  | weir::pipe(to_tokens, {.name = "tokenize", .concurrency = tokenizers,
                                           .capacity = capacity})
                  | weir::aggregate(rows, {.name = "batch", .capacity = capacity})
                  | weir::pipe(to_batch, {.name = "collate", .capacity = capacity})
                  | weir::sink(3);
    // clang-format on

    // A problem with a file stops nothing; the report at the end names the file.
    const auto note = [&](const weir::failure& f) { books.add_problem(f.message()); };
    weir::run_options how{.on_failure = note, .reports = {view}, .stop = examples::stop_request()};
    how.max_failures = weir::unlimited;
    auto run = pipeline.start(workers, how);
    const totals sum = consume(run, s);
    run.stop();
    const weir::pipeline_stats stats = run.stats();
    std::cout << stats << '\n';
    weir::log_lines(std::cout, stats);
    report(sum, books, static_cast<double>(stats.elapsed.count()) / 1e9);
    return examples::status_of_run(0);
}

}  // namespace

int main(int argc, char** argv) {
    settings s;
    if (const auto status = parse(argc, argv, s)) return *status;
    static_cast<void>(examples::stop_request());
    try {
        return examples::exit_status(run_corpus(s), "corpus");
    } catch (const std::exception& e) {  // for example more threads than the system allows
        std::cerr << "corpus: " << e.what() << '\n';
        return 1;
    }
}
