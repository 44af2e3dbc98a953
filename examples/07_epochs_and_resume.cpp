// Shows shuffled epochs, whose batches never mix, and a checkpoint of the samples that the consumer took.
// Two machines resume from the checkpoint. `run_control::checkpoint` says for which pipelines that works.
#include <weir/executor/thread_pool.hpp>
#include <weir/sampling/sampler.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>

#include <cstdint>
#include <iostream>
#include <optional>
#include <set>

namespace {

weir::draw load(weir::draw d) { return d; }  // a real program loads the sample with this index

// Takes at most `most` batches, and adds the positions of their samples to `taken`.
weir::checkpoint train(weir::executor& pool, weir::shard mine, std::optional<weir::checkpoint> from, int most,
                       std::multiset<std::uint64_t>& taken) {
    weir::sampler samples({.size = 100, .seed = 7, .shard = mine, .resume = from});
    // clang-format off
    auto pipeline = weir::source(weir::draws(samples, 2))  // two epochs
                  | weir::pipe(load, {.name = "load", .concurrency = 3})
                  | weir::aggregate(8)
                  | weir::sink();
    // clang-format on
    auto run = pipeline.start(pool);
    for (auto& epoch : run.epochs()) {
        for (auto& batch : epoch) {
            for (const weir::draw& each : batch) taken.insert(each.position);
            if (--most == 0) return run.checkpoint();  // items under way are repeated after a resumption
        }
        std::cout << "  rank " << mine.rank() << ": end of epoch " << epoch.number() << '\n';
    }
    return run.checkpoint();
}

}  // namespace

int main() {
    weir::thread_pool pool(2);
    std::multiset<std::uint64_t> taken;

    std::cout << "one machine, until something stops it\n";
    const auto bytes = train(pool, {}, std::nullopt, 9, taken).to_bytes();  // write them to a file
    std::cout << "  " << taken.size() << " samples taken, checkpoint of " << bytes.size() << " bytes\n";

    std::cout << "two machines go on\n";
    const auto saved = weir::checkpoint::from_bytes(bytes);
    train(pool, weir::shard(0, 2), saved, 1000, taken);
    train(pool, weir::shard(1, 2), saved, 1000, taken);

    const bool each_once = taken.size() == 200 && std::set(taken.begin(), taken.end()).size() == 200;
    std::cout << (each_once ? "each sample of both epochs was taken once\n" : "something is wrong\n");
    return each_once ? 0 : 1;
}
