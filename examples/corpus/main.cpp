// corpus: turns a directory tree of text files into batches of tokens, as a training loader does,
// and says where the time went. The main example: every kind of stage does real work in it.
// SPDX-License-Identifier: BSL-1.0
#include "../common/interrupt.hpp"
#include "../common/options.hpp"
#include "files.hpp"
#include "progress.hpp"
#include "tokens.hpp"

#include <weir/blocking_pool.hpp>
#include <weir/generator.hpp>
#include <weir/pipeline.hpp>
#include <weir/report/log.hpp>
#include <weir/report/table.hpp>
#include <weir/thread_pool.hpp>

#include <algorithm>     // for std::max
#include <chrono>        // for std::chrono::milliseconds
#include <cstddef>       // for std::size_t
#include <cstdint>       // for std::int64_t
#include <exception>     // for std::exception
#include <filesystem>    // for std::filesystem::is_directory
#include <iomanip>       // for std::setprecision
#include <iostream>      // for std::cout
#include <string>        // for std::string
#include <system_error>  // for std::error_code
#include <thread>        // for std::thread::hardware_concurrency
#include <utility>       // for std::move
#include <vector>        // for std::vector

namespace {

using namespace corpus;

// Paths that one task reads: enough that a task's own cost doesn't matter, few enough to spread.
constexpr std::size_t paths_per_read = 8;

struct settings {
    std::string directory;
    std::int64_t train_ms = 0;
    std::int64_t read_concurrency = 4;
    std::int64_t tokenize_concurrency = std::max(1U, std::thread::hardware_concurrency());
    std::int64_t workers = tokenize_concurrency;
    std::int64_t capacity = 2;
    std::int64_t sequence = 512;
    std::int64_t batch = 16;
    std::int64_t max_mb = 64;

    [[nodiscard]] std::size_t max_bytes() const { return static_cast<std::size_t>(max_mb) * 1'000'000; }
};

struct totals {
    std::uint64_t batches = 0;
    std::uint64_t tokens = 0;
    std::uint64_t padding = 0;
};

// A stage: reads a list of files. One bad file must not fail the others of its list, so it is no
// exception here, but an entry in the books.
std::vector<document> read_all(const std::vector<std::string>& paths, std::size_t max_bytes, books& books) {
    std::vector<document> documents;
    for (const std::string& path : paths) {
        try {
            std::string bytes = read_file(path, max_bytes);
            books.bytes += bytes.size();
            documents.push_back(document{path, std::move(bytes)});
        } catch (const file_error& e) {
            books.add_problem(e.what());
        }
        ++books.files;
    }
    return documents;
}

// A stage: one document becomes many sequences, each handed on when it is full. A packed one that
// can't be unpacked is an exception: the pipeline counts it and tells `on_failure`.
weir::generator<sequence> tokenize(document doc, std::size_t length, std::size_t max_bytes, books* books) {
    std::string text = std::move(doc.bytes);
    if (doc.path.ends_with(".gz")) {
        try {
            text = gunzip(text, max_bytes);
        } catch (const std::runtime_error& e) {
            throw file_error(doc.path, e.what());
        }
    }
    if (looks_binary(text)) {
        ++books->binary;
        co_return;
    }
    tokenizer tokens(text);
    sequence row;
    while (const auto next = tokens.next()) {
        row.push_back(*next);
        if (row.size() < length) continue;
        co_yield std::move(row);
        row = sequence();
    }
    if (!row.empty()) co_yield std::move(row);
}

// The first walk: names only, so it is quick, and the progress bar has a total.
std::uint64_t count_files(const std::string& directory) {
    std::uint64_t files = 0;
    for ([[maybe_unused]] const std::string& path : walk(directory, nullptr)) {
        if (examples::interrupted()) break;
        ++files;
    }
    return files;
}

std::string default_directory() {
    for (const char* candidate :
         {"/usr/share/doc", "/usr/share/man", "/usr/share/licenses", "/usr/include"}) {
        std::error_code ignored;
        if (std::filesystem::is_directory(candidate, ignored)) return candidate;
    }
    return ".";
}

// The foreground: a training loop that counts tokens instead of training.
template <class Run>
totals consume(Run& run, const settings& s, const books& books, progress& progress) {
    totals sum;
    while (!examples::interrupted()) {
        progress.show(books.files, books.bytes);
        // Waits for a while only, so that progress and Ctrl-C are looked at; a time-out loses nothing.
        const auto batch = run.get(std::chrono::milliseconds(100));
        if (batch.status() == weir::channel_status::closed) break;
        if (!batch) continue;
        ++sum.batches;
        sum.tokens += batch->real_tokens();
        sum.padding += batch->padded;
        examples::be_busy(std::chrono::milliseconds(s.train_ms));
    }
    progress.finish();
    return sum;
}

void report(const totals& sum, const books& books, double seconds) {
    const std::vector<std::string> problems = books.problems();
    const double megabytes = static_cast<double>(books.bytes) / 1e6;
    const auto all = static_cast<double>(std::max<std::uint64_t>(1, sum.tokens + sum.padding));
    std::cout << std::fixed << std::setprecision(1) << '\n'
              << books.files << " files, " << megabytes << " MB in " << seconds << " s ("
              << megabytes / std::max(seconds, 1e-9) << " MB/s); " << books.binary << " left out as binary\n"
              << sum.batches << " batches, " << sum.tokens << " tokens, "
              << 100 * static_cast<double>(sum.padding) / all << " % padding\n"
              << problems.size() << " could not be read or unpacked" << (problems.empty() ? "\n" : ":\n");
    for (const std::string& problem : problems) std::cout << "  " << problem << '\n';
}

int run_corpus(const settings& s) {
    std::cerr << "counting the files of " << s.directory << " ..." << std::endl;
    progress progress(count_files(s.directory));

    books books;
    const auto length = static_cast<std::size_t>(s.sequence);
    const auto rows = static_cast<std::size_t>(s.batch);
    const auto capacity = static_cast<std::size_t>(s.capacity);
    const auto read_concurrency = static_cast<std::size_t>(s.read_concurrency);
    const auto tokenize_concurrency = static_cast<std::size_t>(s.tokenize_concurrency);

    // Where the work runs. Reading blocks its thread, so it gets threads of its own.
    weir::thread_pool workers(static_cast<unsigned>(s.workers));
    weir::blocking_pool io(static_cast<unsigned>(s.read_concurrency));

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
                  | weir::pipe(read, {.name = "read", .concurrency = read_concurrency,
                                      .executor = &io, .capacity = capacity})
                  | weir::disaggregate({.name = "ungroup", .capacity = capacity})
                  | weir::pipe(to_tokens, {.name = "tokenize", .concurrency = tokenize_concurrency,
                                           .capacity = capacity})
                  | weir::aggregate(rows, {.name = "batch", .capacity = capacity})
                  | weir::pipe(to_batch, {.name = "collate", .capacity = capacity})
                  | weir::sink(3);
    // clang-format on

    // Whatever goes wrong with a file stops nothing, and is told by name at the end.
    const auto note = [&](const weir::failure& f) { books.add_problem(f.message()); };
    auto run = pipeline.start(workers, {.max_failures = weir::unlimited, .on_failure = note});
    const totals sum = consume(run, s, books, progress);
    const double seconds = progress.seconds();
    run.stop();
    const weir::pipeline_stats stats = run.stats();
    std::cout << stats << '\n';
    weir::log_lines(std::cout, stats);
    report(sum, books, seconds);
    if (examples::interrupted()) std::cout << "stopped early, as asked\n";
    return examples::interrupted() ? examples::exit_interrupted : 0;
}

}  // namespace

int main(int argc, char** argv) {
    settings s;
    s.directory = default_directory();
    examples::options options("corpus [OPTION...] [DIR]",
                              "Reads a directory tree of text files into batches of tokens.");
    options.argument("DIR", s.directory, "where the files are (" + s.directory + ")");
    options.number("--train-ms", s.train_ms, 0, 3'600'000, "how long the foreground works on a batch");
    options.number("--read-concurrency", s.read_concurrency, 1, 1'000, "reads at a time");
    options.number("--tokenize-concurrency", s.tokenize_concurrency, 1, 1'000, "tokenizers at a time");
    options.number("--workers", s.workers, 1, 1'000, "threads for all but the reading");
    options.number("--capacity", s.capacity, 1, 1'000'000, "places in the queue behind a stage");
    options.number("--sequence", s.sequence, 1, 1'000'000, "tokens in a row of a batch");
    options.number("--batch", s.batch, 1, 1'000'000, "rows of a batch");
    options.number("--max-mb", s.max_mb, 1, 100'000, "largest file, packed or not, in MB");
    if (const auto status = options.parse(argc, argv)) return *status;
    std::error_code error;
    if (!std::filesystem::is_directory(s.directory, error)) {
        return options.wrong("'" + s.directory + "' is no directory" + (error ? ": " + error.message() : ""));
    }
    examples::stop_on_interrupt();
    try {
        return run_corpus(s);
    } catch (const std::exception& e) {  // such as more threads than the system gives
        std::cerr << "corpus: " << e.what() << '\n';
        return 1;
    }
}
