// cluster: some ranks read and tokenize files, one trains on them, and says which rank is slow, and why.
// A job that was killed continues with any number of ranks: each file is trained on once.
// SPDX-License-Identifier: BSL-1.0
#include "documents.hpp"
#include "launch.hpp"
#include "settings.hpp"

#include <weir/executor/thread_pool.hpp>
#include <weir/mpi.hpp>
#include <weir/report/rank_table.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>

#include <chrono>      // for std::chrono::microseconds
#include <filesystem>  // for std::filesystem::remove
#include <iostream>    // for std::cout
#include <memory>      // for std::make_shared

using namespace cluster;
using namespace std::chrono_literals;

namespace {

// A rank that prepares.
void prepare(const settings& s, int rank, const std::vector<std::string>& files, weir::sampler mine,
             weir::mpi::channel<message>& to, weir::thread_pool& pool, weir::run_options how) {
    const auto reads = slowed(s, rank, "read", [&](const weir::draw& d) { return read(d, files); });
    const auto tokens = slowed(s, rank, "tokenize", [&](const document& d) { return tokenize(d, rank); });
    auto pipeline = weir::source(weir::draws(std::move(mine), 1), {.name = "draw"}) |
                    weir::pipe(reads, {.name = "read"}) | weir::pipe(tokens, {.name = "tokenize"}) |
                    weir::sink_to(to, {.name = "send"});
    static_cast<void>(pipeline.start(pool, std::move(how)).wait());
}

// Rank 0. It alone knows which files were trained on, so it keeps the checkpoint of all ranks.
void train(const settings& s, std::vector<weir::progress> done, weir::mpi::channel<message>& from,
           weir::thread_pool& pool, weir::run_options how) {
    const auto step = [&](message m) {
        std::this_thread::sleep_for(std::chrono::microseconds(s.train_us));
        return m;
    };
    const auto save = [&] {
        std::vector<weir::checkpoint> all;
        for (const weir::progress& each : done) all.push_back(each.checkpoint());
        weir::save_checkpoint(s.checkpoint, weir::checkpoint::merge(all));
    };
    std::uint64_t files = 0, tokens = 0;
    auto pipeline =
        weir::source(from, {.name = "receive"}) | weir::pipe(step, {.name = "train"}) | weir::sink(2);
    auto run = pipeline.start(pool, std::move(how));
    for (const message& m : run) {
        done.at(static_cast<std::size_t>(m[0]) - 1).took(static_cast<std::uint64_t>(m[1]));
        tokens += m.size() - 2;
        if (++files % 500 == 0) save();
    }
    std::cout << files << " files with " << tokens << " tokens were trained on\n";
    std::filesystem::remove(s.checkpoint);  // the next start begins anew
}

void work(const settings& s, weir::mpi::world& all) {
    const int rank = all.rank();
    check(s, all.size());
    die_later(rank, s);
    weir::thread_pool pool(2);
    const std::vector<std::string> files = files_in(s.directory);
    const auto earlier = weir::sync_wait(pool, weir::mpi::load_checkpoint(all, s.checkpoint));
    if (earlier && rank == 0) std::cout << "continues after " << earlier->watermark() << " files or more\n";
    const auto show = [rank](const weir::rank_stats&, const std::vector<weir::straggler>& slow) {
        if (rank != 0) return;
        for (const weir::straggler& each : slow) std::cout << line_text(each) << std::endl;
    };
    const auto ranks =
        std::make_shared<weir::mpi::rank_report>(weir::sync_wait(pool, all.duplicate()), pool, show);
    const weir::run_options how{.lap = 1s, .reports = {ranks}};
    {
        weir::mpi::channel<message> documents(all, pool, {.puts = rank != 0, .gets = rank == 0});
        if (rank != 0) {
            prepare(s, rank, files, sampler_of(rank, all.size(), files.size(), earlier), documents, pool,
                    how);
        } else {
            std::vector<weir::progress> done;
            for (int r = 1; r < all.size(); ++r)
                done.emplace_back(sampler_of(r, all.size(), files.size(), earlier).start());
            train(s, std::move(done), documents, pool, how);
        }
    }
    const weir::rank_stats stats = weir::sync_wait(pool, ranks->total());
    if (rank == 0) std::cout << stats;
}

}  // namespace

int main(int argc, char** argv) {
    settings s;
    if (const auto status = parse(argc, argv, s)) return *status;
    if (!is_rank()) return start_ranks(argv, s);
    weir::mpi::world all;
    return all.run([&] { work(s, all); });
}
