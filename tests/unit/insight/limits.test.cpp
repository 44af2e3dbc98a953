#include <weir/insight/limits.hpp>

#include "support/catch.hpp"

#include <weir/insight/verdict.hpp>
#include <weir/measure/policy.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using Catch::Matchers::StartsWith;
using namespace std::chrono_literals;
using weir::limit_cause;
using weir::pipeline_stats;
using weir::slot_times;

namespace {

// Statistics of a run of 1 s, made by hand, without the times of single tasks: predictions are impossible. Each stage has one slot.
class figures {
  public:
    figures() { all_.elapsed = 1s; }

    figures& stage(std::string name, slot_times times, std::string kind = "pipe") {
        weir::stage_stats s;
        s.name = name;
        s.kind = std::move(kind);
        s.elapsed = 1s;
        s.num_tasks = 100;
        s.busy = times.busy();
        s.task_time = times.busy();
        s.per_slot = {times};
        if (!all_.stages.empty()) s.inputs = {all_.channels.size() - 1};
        s.outputs = {all_.channels.size()};
        all_.stages.push_back(s);
        weir::channel_stats behind;
        behind.name = std::move(name);
        behind.elapsed = 1s;
        behind.capacity = 2;
        behind.num_put = behind.num_get = 100;
        all_.channels.push_back(behind);
        return *this;
    }
    // For how long the consumer waits for items, all of it for the first one.
    pipeline_stats consumed(weir::duration waits) {
        stage("sink", {.wait_get = 1s}, "sink");
        all_.channels.back().get_blocked = waits;
        all_.channels.back().get_waits.record(waits);
        all_.num_items = 100;
        return all_;
    }
    pipeline_stats& so_far() { return all_; }

  private:
    pipeline_stats all_;
};

weir::process_stats processors(unsigned number, weir::duration worked) {
    weir::process_stats p;
    p.elapsed = 1s;
    p.processors = number;
    p.user_time = worked;
    p.system_time = 0s;
    p.involuntary_switches = 0;
    return p;
}

}  // namespace

TEST_CASE("each cause has a name of its own") {
    std::vector<std::string> names;
    for (int i = 0; i <= static_cast<int>(limit_cause::unsure); ++i) {
        names.emplace_back(weir::name_of(static_cast<limit_cause>(i)));
        CHECK_FALSE(names.back().empty());
        for (std::size_t k = 0; k + 1 < names.size(); ++k) CHECK(names[k] != names.back());
    }
    CHECK(names.back() == "unsure");
    CHECK(weir::name_of(limit_cause::threads) == "workers");
}

TEST_CASE("without a prediction, the stage that is always busy is the cause, and the verdict is less sure") {
    const weir::verdict v = weir::explain(figures()
                                              .stage("src", {.run = 100ms, .wait_put = 900ms}, "source")
                                              .stage("slow", {.wait_get = 20ms, .await = 980ms})
                                              .stage("fast", {.wait_get = 600ms, .run = 400ms})
                                              .consumed(700ms));
    CHECK(v.cause == limit_cause::stage);
    CHECK(v.stage == "slow");
    CHECK(v.lost == Approx(0.7));
    CHECK(v.sure == Approx(0.7));
    CHECK_FALSE(v.change);
    CHECK_THAT(v.sentence, StartsWith("stage 'slow' is the bottleneck: it awaits 98 % of the time"));
    CHECK_THAT(v.sentence, ContainsSubstring("I can't explain this run"));
}

TEST_CASE("a run without a consumer loses no time of one") {
    figures made;
    made.stage("src", {.run = 100ms, .wait_put = 900ms}, "source")
        .stage("slow", {.wait_get = 20ms, .await = 980ms})
        .consumed(700ms);
    weir::pipeline_stats stats = made.so_far();
    REQUIRE(stats.stages.back().kind == "sink");
    stats.stages.pop_back();
    stats.stages.back().outputs.clear();
    const weir::verdict v = weir::explain(stats);
    CHECK(v.stage == "slow");
    CHECK(v.lost == 0);
}

TEST_CASE("branches are judged by the states alone") {
    figures made;
    made.stage("src", {.wait_put = 1s}, "source")
        .stage("a", {.wait_get = 10ms, .run = 990ms})
        .stage("b", {.wait_get = 900ms, .run = 100ms});
    made.so_far().stages[2].inputs = {0};  // a second branch
    const weir::verdict v = weir::explain(made.consumed(800ms));
    CHECK(v.cause == limit_cause::stage);
    CHECK(v.stage == "a");
    CHECK_THAT(v.sentence, ContainsSubstring("branches"));
}

TEST_CASE("the states show the source, the consumer, threads, order, room, and a balance") {
    const slot_times idle{.wait_get = 1s};
    const auto cause = [](const pipeline_stats& stats) { return weir::detail::limit_by_states(stats).cause; };
    const slot_times busy{.wait_get = 30ms, .run = 970ms};
    CHECK(cause(figures()
                    .stage("src", {.run = 990ms, .wait_put = 10ms}, "source")
                    .stage("a", idle)
                    .consumed(900ms)) == limit_cause::source);
    CHECK(cause(figures().stage("a", {.run = 300ms, .wait_put = 700ms}).consumed(10ms)) ==
          limit_cause::consumer);
    CHECK(cause(figures().stage("a", {.runnable = 500ms, .run = 500ms}).consumed(500ms)) ==
          limit_cause::threads);
    CHECK(cause(figures().stage("a", {.run = 500ms, .wait_turn = 500ms}).consumed(500ms)) ==
          limit_cause::order);
    CHECK(cause(figures().stage("a", {.wait_get = 400ms, .run = 600ms}).consumed(500ms)) ==
          limit_cause::room);
    CHECK(cause(figures().stage("a", busy).stage("b", busy).consumed(500ms)) == limit_cause::balanced);
    CHECK(cause(figures().stage("a", busy).consumed(10ms)) == limit_cause::balanced);
    CHECK(cause(pipeline_stats()) == limit_cause::unsure);
}

TEST_CASE("a verdict by states says what to change") {
    const auto sentence = [](const pipeline_stats& stats) {
        return weir::detail::limit_by_states(stats).sentence;
    };
    const slot_times busy{.wait_get = 30ms, .run = 970ms};
    const slot_times sometimes{.wait_get = 400ms, .run = 600ms};
    pipeline_stats stats = figures().stage("a", busy).consumed(500ms);
    CHECK(sentence(stats) ==
          "stage 'a' is the bottleneck: it is at work 97 % of the time; give it more slots (concurrency), or "
          "make its function faster");
    stats.stages[0].setup = weir::stage_setup{.threads = 1};
    CHECK_THAT(sentence(stats), EndsWith("; make its function faster, or give it more slots and its executor "
                                         "more threads"));
    stats.stages[0].setup->is_resizable = false;
    CHECK_THAT(sentence(stats), EndsWith("; make it faster: it always has one slot"));
    CHECK_THAT(sentence(figures().stage("a", {.runnable = 500ms, .run = 500ms}).consumed(500ms)),
               EndsWith("give their executor more threads"));
    CHECK_THAT(sentence(figures().stage("a", {.run = 500ms, .wait_turn = 500ms}).consumed(500ms)),
               ContainsSubstring("give the queue behind it more room") && ContainsSubstring("completion"));
    CHECK_THAT(sentence(figures().stage("a", sometimes).consumed(500ms)),
               EndsWith("more room (capacity), or the busiest more slots (concurrency)"));
    CHECK_THAT(sentence(figures().stage("a", busy).stage("b", busy).stage("c", sometimes).consumed(10ms)),
               EndsWith("each of them would have to be faster: 'a', 'b', the consumer"));
}

TEST_CASE("of several sources, the slow one is named") {
    const slot_times idle{.wait_get = 1s};
    figures made;
    made.stage("images", {.run = 10ms, .wait_put = 990ms}, "source")
        .stage("labels", {.run = 990ms, .wait_put = 10ms}, "source")
        .stage("both", idle, "zip");
    const auto found = weir::detail::limit_by_states(made.consumed(900ms));
    CHECK(found.cause == limit_cause::source);
    CHECK(found.stage == "labels");
    CHECK_THAT(found.sentence, StartsWith("source 'labels' is the bottleneck"));
}

TEST_CASE("if most of a run passes before its first item, no queue is blamed") {
    pipeline_stats stats = figures()
                               .stage("src", {.run = 700ms, .wait_put = 300ms}, "source")
                               .stage("a", {.wait_get = 700ms, .run = 300ms})
                               .consumed(900ms);
    stats.first_item = weir::first_item_stats{.after = 700ms, .since = 300ms, .num_items = 99};
    const auto found = weir::detail::limit_by_states(stats);
    CHECK(found.cause == limit_cause::source);
    CHECK_THAT(found.sentence, StartsWith("70 % of the time passed before the first item came"));
}

TEST_CASE(
    "a function that blocks each thread of its executor is named, though its slots are always at work") {
    pipeline_stats stats = figures().stage("reads", {.run = 1s}).consumed(900ms);
    stats.process = processors(2, 20ms);
    stats.stages[0].setup = weir::stage_setup{.threads = 2};
    CHECK_FALSE(weir::detail::deeper_limit(stats, limit_cause::stage, "reads"));
    stats.stages[0].setup->threads = 1;
    const auto deeper = weir::detail::deeper_limit(stats, limit_cause::stage, "reads");
    REQUIRE(deeper);
    CHECK(deeper->cause == limit_cause::blocking);
}

TEST_CASE("the inputs of a merge or zip wait for their turn, and hold no result back") {
    for (const char* kind : {"merge", "zip", "pipe"}) {
        const auto found =
            weir::detail::limit_by_states(figures()
                                              .stage("src", {.wait_put = 1s}, "source")
                                              .stage("m", {.wait_put = 500ms, .wait_turn = 500ms}, kind)
                                              .stage("a", {.wait_get = 200ms, .await = 800ms})
                                              .consumed(500ms));
        CHECK(found.cause == (std::string_view(kind) == "pipe" ? limit_cause::order : limit_cause::room));
    }
}

TEST_CASE("threads are too few only if they hold back a stage, not if functions that await hardly need any") {
    const auto cause = [](const slot_times& a, const slot_times& b) {
        return weir::detail::limit_by_states(figures().stage("a", a).stage("b", b).consumed(500ms)).cause;
    };
    const slot_times waits{.wait_get = 950ms, .runnable = 9ms, .run = 1ms, .await = 40ms};
    CHECK(cause({.runnable = 9ms, .run = 1ms, .await = 990ms}, waits) == limit_cause::stage);
    CHECK(cause({.runnable = 9ms, .run = 1ms, .await = 590ms, .wait_put = 400ms}, waits) ==
          limit_cause::room);
    CHECK(cause({.runnable = 200ms, .run = 10ms, .await = 790ms}, waits) == limit_cause::threads);
    CHECK(cause({.run = 1s}, {.runnable = 900ms, .run = 100ms}) == limit_cause::stage);
}

TEST_CASE("a stage that ended early is no bottleneck if another one, or the consumer, is busy for longer") {
    // As before a cache: only the first of ten epochs is decoded.
    const pipeline_stats cached =
        figures().stage("decode", {.off = 890ms, .await = 110ms}).stage("b", {.wait_get = 1s}).consumed(10ms);
    CHECK(weir::detail::limit_by_states(cached).cause == limit_cause::consumer);

    const auto slow =
        weir::detail::limit_by_states(figures()
                                          .stage("slow", {.await = 1s}, "source")
                                          .stage("fast", {.off = 670ms, .await = 330ms}, "source")
                                          .consumed(990ms));
    CHECK(slow.cause == limit_cause::source);
    CHECK(slow.stage == "slow");

    const auto first = weir::detail::limit_by_states(figures()
                                                         .stage("decode", {.off = 300ms, .await = 700ms})
                                                         .stage("b", {.wait_get = 1s})
                                                         .consumed(750ms));
    CHECK(first.stage == "decode");
    CHECK_THAT(first.sentence, ContainsSubstring("in the 70 % of the run in which it is in service"));

    const auto equal = weir::detail::limit_by_states(
        figures().stage("a", {.off = 60ms, .await = 940ms}).stage("b", {.await = 1s}).consumed(900ms));
    CHECK(equal.cause == limit_cause::balanced);
    CHECK_THAT(equal.sentence, EndsWith("'a', 'b'"));
}

TEST_CASE("if slots were added in the middle of the run, the queues are not blamed") {
    pipeline_stats stats = figures().stage("decode", {.wait_get = 200ms, .await = 800ms}).consumed(900ms);
    CHECK(weir::detail::limit_by_states(stats).cause == limit_cause::room);
    stats.stages[0].per_slot.push_back({.off = 600ms, .wait_get = 80ms, .await = 320ms});
    const auto found = weir::detail::limit_by_states(stats);
    CHECK(found.cause == limit_cause::unsure);
    CHECK(found.sentence ==
          "slots of 'decode' were in service for 400 ms to 1.0 s; explain a part of the run "
          "in which their number is the same");
    stats.stages[0].per_slot.back() = {.off = 1s};  // a slot that was taken out of service before
    CHECK(weir::detail::limit_by_states(stats).cause == limit_cause::room);
    stats.stages[0].per_slot.back() = {.off = 600ms, .wait_get = 400ms};
    CHECK(weir::detail::limit_by_states(stats).cause == limit_cause::unsure);
    stats.stages[0].kind = "merge";  // has a slot for each input, which ends with the input
    CHECK(weir::detail::limit_by_states(stats).cause == limit_cause::room);
}

TEST_CASE("a source that waits, though it keeps no order, is held back by the run's limit of bytes") {
    const auto found =
        weir::detail::limit_by_states(figures()
                                          .stage("src", {.run = 100ms, .wait_turn = 900ms}, "source")
                                          .stage("a", {.wait_get = 500ms, .run = 500ms})
                                          .consumed(500ms));
    CHECK(found.cause == limit_cause::bytes);
    CHECK(found.stage == "src");
    CHECK_THAT(found.sentence, ContainsSubstring("90 % of its time"));
}

TEST_CASE("if all processors are busy, more threads or slots are no advice") {
    pipeline_stats stats = figures()
                               .stage("light", {.wait_get = 600ms, .run = 400ms})
                               .stage("heavy", {.run = 1s})
                               .consumed(900ms);
    stats.process = processors(2, 1'850ms);
    for (const limit_cause found : {limit_cause::threads, limit_cause::stage}) {
        const auto deeper = weir::detail::deeper_limit(stats, found, "heavy");
        REQUIRE(deeper);
        CHECK(deeper->cause == limit_cause::processors);
        CHECK(deeper->stage == "heavy");
        CHECK(deeper->sentence ==
              "all 2 processors are busy; stage 'heavy' needs 71 % of the stages' time with a thread");
    }
    CHECK_FALSE(weir::detail::deeper_limit(stats, limit_cause::consumer, ""));

    stats.process = processors(4, 1'850ms);
    CHECK_FALSE(weir::detail::deeper_limit(stats, limit_cause::threads, ""));
}

TEST_CASE("functions that are preempted for half of their time compete for processors") {
    pipeline_stats stats = figures().stage("heavy", {.run = 1s}).stage("b", {.run = 1s}).consumed(900ms);
    stats.process = processors(4, 1'000ms);
    stats.process->involuntary_switches = 50;  // of 10 ms at most
    for (const limit_cause found : {limit_cause::threads, limit_cause::stage}) {
        const auto deeper = weir::detail::deeper_limit(stats, found, "heavy");
        REQUIRE(deeper);
        CHECK(deeper->cause == limit_cause::processors);
        CHECK_THAT(deeper->sentence,
                   ContainsSubstring("a thread for 2.0 s, and the processors worked 1.0 s"));
    }
    stats.process->user_time = 1'600ms;
    CHECK_FALSE(weir::detail::deeper_limit(stats, limit_cause::threads, ""));
    stats.process->user_time.reset();  // the system doesn't report it
    CHECK_FALSE(weir::detail::deeper_limit(stats, limit_cause::threads, ""));
}

TEST_CASE("functions of which nearly every invocation is long without a processor are not preempted") {
    // 100 sleeps of 1 ms, and a few short preemptions, which at 10 ms each would be longer than the run.
    pipeline_stats stats = figures().stage("sleeps", {.run = 104ms}).stage("b", {.run = 4ms}).consumed(50ms);
    stats.process = processors(2, 13ms);
    stats.process->involuntary_switches = 11;
    stats.stages[0].task_times.record(1ms, 96);
    stats.stages[0].task_times.record(2ms, 4);
    stats.stages[1].task_times.record(40us, 100);
    CHECK_FALSE(weir::detail::deeper_limit(stats, limit_cause::stage, "sleeps"));
    CHECK(weir::detail::deeper_limit(stats, limit_cause::threads, "")->cause == limit_cause::blocking);
    // The same times of invocations that mostly await: they have a thread for a short time only.
    stats.stages[0].per_slot = {{.run = 104ms, .await = 1s}};
    CHECK(weir::detail::deeper_limit(stats, limit_cause::threads, "")->cause == limit_cause::processors);
    // A third of the invocations is preempted, and takes as long as three: the others show nothing.
    stats.stages[0].per_slot = {{.run = 166ms}};
    stats.process = processors(2, 100ms);
    stats.process->involuntary_switches = 33;
    stats.stages[0].task_times = {};
    stats.stages[0].task_times.record(1ms, 67);
    stats.stages[0].task_times.record(3ms, 33);
    CHECK(weir::detail::deeper_limit(stats, limit_cause::stage, "sleeps")->cause == limit_cause::processors);
}

TEST_CASE("functions that have a thread but no work, and are not preempted, block the thread") {
    pipeline_stats stats =
        figures().stage("reads", {.run = 1s}).stage("b", {.runnable = 900ms, .run = 100ms}).consumed(900ms);
    stats.process = processors(2, 120ms);
    stats.process->involuntary_switches = 48;  // of 10 ms at most
    const auto deeper = weir::detail::deeper_limit(stats, limit_cause::threads, "");
    REQUIRE(deeper);
    CHECK(deeper->cause == limit_cause::blocking);
    CHECK(deeper->stage == "reads");
    CHECK_THAT(deeper->sentence, ContainsSubstring("blocking_pool"));
    stats.process->involuntary_switches = 1'000;
    CHECK(weir::detail::deeper_limit(stats, limit_cause::threads, "")->cause == limit_cause::processors);
    stats.process->user_time = 100ms;
    CHECK(weir::detail::deeper_limit(stats, limit_cause::threads, "")->cause == limit_cause::blocking);
    // Blocking does no harm while there are enough threads.
    CHECK_FALSE(weir::detail::deeper_limit(stats, limit_cause::stage, "reads"));
}

TEST_CASE("tasks as short as the move of an item are named, rather than threads that move them") {
    pipeline_stats stats = figures().stage("a", {.runnable = 900ms, .run = 100ms}).consumed(900ms);
    stats.stages[0].num_tasks = 200'000;
    stats.stages[0].task_times.record(500ns, 200'000);
    stats.stages[0].task_time = 100ms;
    CHECK(weir::detail::limit_by_states(stats).cause == limit_cause::overhead);
    CHECK_THAT(weir::detail::limit_by_states(stats).sentence,
               ContainsSubstring("none takes more than 500 ns"));
    stats.stages[0].num_tasks = 90'000;
    CHECK(weir::detail::limit_by_states(stats).cause == limit_cause::threads);
}

TEST_CASE("a stage that spends its time on items that fail says so") {
    pipeline_stats stats = figures().stage("parse", {.run = 1s}).consumed(900ms);
    stats.stages[0].num_failures = 40;
    stats.stages[0].task_time = stats.stages[0].failure_time = 500ms;
    const auto deeper = weir::detail::deeper_limit(stats, limit_cause::stage, "parse");
    REQUIRE(deeper);
    CHECK(deeper->cause == limit_cause::failures);
    CHECK_THAT(deeper->sentence, ContainsSubstring("50 % of its time on items that then fail (40 of 100)"));
    CHECK(weir::detail::limit_by_states(stats).cause == limit_cause::failures);

    stats.stages[0].task_time = 900ms;
    stats.stages[0].failure_time = 100ms;
    CHECK_FALSE(weir::detail::deeper_limit(stats, limit_cause::stage, "parse"));

    // The times of invocations include those in which they had no thread.
    stats.stages[0].task_time = 6s;
    stats.stages[0].failure_time = 4s;
    const auto waiting = weir::detail::deeper_limit(stats, limit_cause::stage, "parse");
    REQUIRE(waiting);
    CHECK_THAT(waiting->sentence, ContainsSubstring("40 % of its time on items that then fail"));
}

TEST_CASE("a stage that spends its time on repeated calls says so") {
    pipeline_stats stats = figures().stage("download", {.await = 1s}).consumed(900ms);
    stats.stages[0].retries = weir::retry_stats{.num_retries = 70, .time = 600ms};
    const auto deeper = weir::detail::deeper_limit(stats, limit_cause::stage, "download");
    REQUIRE(deeper);
    CHECK(deeper->cause == limit_cause::retries);
    CHECK_THAT(deeper->sentence,
               ContainsSubstring("60 % of its time on calls that fail and are repeated (70)"));

    stats.stages[0].retries->time = 100ms;
    CHECK_FALSE(weir::detail::deeper_limit(stats, limit_cause::stage, "download"));
}

TEST_CASE("a stage that copies tells copies from waits for blocks and for memory") {
    pipeline_stats stats = figures().stage("to_device", {.await = 1s}).consumed(900ms);
    weir::transfer_stats copies;
    copies.num_copies = 100;
    copies.bytes = 1'000'000'000;
    copies.copying = 500ms;
    const auto deeper = [&](weir::duration block, weir::duration memory) {
        copies.block_wait = block;
        copies.memory_wait = memory;
        stats.stages[0].transfers = copies;
        return *weir::detail::deeper_limit(stats, limit_cause::stage, "to_device");
    };
    CHECK(deeper(0s, 0s).cause == limit_cause::copies);
    CHECK(deeper(400ms, 0s).cause == limit_cause::blocks);
    CHECK_THAT(deeper(400ms, 0s).sentence, ContainsSubstring("a free block 40 % of its time"));
    CHECK_THAT(deeper(0s, 400ms).sentence, ContainsSubstring("memory of the device 40 % of its time"));
}

TEST_CASE("the waits of a stage's slots are a share of the time of all slots") {
    pipeline_stats stats = figures().stage("to_device", {.await = 1s}).consumed(900ms);
    stats.stages[0].per_slot.resize(4, stats.stages[0].per_slot[0]);
    stats.stages[0].busy = 4s;
    const auto waiting = [&stats](weir::duration memory) {
        stats.stages[0].transfers = weir::transfer_stats{.num_memory_waits = 4, .memory_wait = memory};
        return weir::detail::deeper_limit(stats, limit_cause::room, "to_device");
    };
    CHECK_FALSE(waiting(1s));
    REQUIRE(waiting(2s));
    CHECK_THAT(waiting(2s)->sentence, ContainsSubstring("memory of the device 50 % of its time"));
}

TEST_CASE("a consumer that begins late is no bottleneck, and says so") {
    pipeline_stats stats = figures().stage("a", {.run = 100ms, .wait_put = 900ms}).consumed(50ms);
    CHECK(weir::detail::limit_by_states(stats).cause == limit_cause::consumer);
    stats.first_item = weir::first_item_stats{.after = 900ms, .since = 100ms, .num_items = 99};
    CHECK(weir::detail::limit_by_states(stats).cause == limit_cause::unsure);
    CHECK_THAT(weir::detail::limit_by_states(stats).sentence,
               ContainsSubstring("took its first item after 90 % of the time, and had not waited for it"));
}

TEST_CASE("a stage that waits for blocks is not named if a stage behind it is the bottleneck") {
    pipeline_stats stats = figures()
                               .stage("decode", {.await = 800ms, .wait_put = 200ms}, "batch_slots")
                               .stage("train", {.run = 1s})
                               .consumed(900ms);
    stats.stages[0].transfers = weir::transfer_stats{.num_block_waits = 80, .block_wait = 800ms};
    CHECK_FALSE(weir::detail::deeper_limit(stats, limit_cause::stage, "train"));
    REQUIRE(weir::detail::deeper_limit(stats, limit_cause::stage, "decode"));
    CHECK(weir::detail::deeper_limit(stats, limit_cause::stage, "decode")->cause == limit_cause::blocks);
}

TEST_CASE("a stage that waits for blocks is named, unless the consumer is the bottleneck") {
    pipeline_stats stats = figures().stage("fill", {.await = 400ms, .wait_turn = 600ms}).consumed(500ms);
    stats.stages[0].transfers = weir::transfer_stats{.num_block_waits = 4, .block_wait = 400ms};
    const auto deeper = weir::detail::deeper_limit(stats, limit_cause::room, "fill");
    REQUIRE(deeper);
    CHECK(deeper->cause == limit_cause::blocks);
    CHECK_FALSE(weir::detail::deeper_limit(stats, limit_cause::consumer, ""));
    const auto seen = weir::detail::limit_by_states(stats);
    CHECK(seen.cause == limit_cause::blocks);
    CHECK(seen.stage == "fill");

    stats.stages[0].transfers->block_wait = 100ms;
    CHECK(weir::detail::limit_by_states(stats).cause == limit_cause::order);
}
