// What the docstrings show, to the letter, with what it takes around it: tests/house/docs.py looks for each of
// them here. (What is in cuda/ and asio/ needs more than the library.)
// SPDX-License-Identifier: BSL-1.0
#include <weir/insight.hpp>
#include <weir/report/csv.hpp>
#include <weir/report/describe.hpp>
#include <weir/report/explain_all_runs.hpp>
#include <weir/report/html.hpp>
#include <weir/report/json.hpp>
#include <weir/report/live_view.hpp>
#include <weir/report/log.hpp>
#include <weir/report/metrics.hpp>
#include <weir/report/profile.hpp>
#include <weir/report/rank_stats.hpp>
#include <weir/report/rank_table.hpp>
#include <weir/report/trace.hpp>
#include <weir/report/watchdog.hpp>
#include <weir/sampling/checkpoint_file.hpp>
#include <weir/simulation.hpp>
#include <weir/stages/batch_slots.hpp>
#include <weir/stages/block_pool.hpp>
#include <weir/task/stop_on_signals.hpp>
#include <weir/weir.hpp>

#include <chrono>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

// clang-format off

using namespace std::chrono_literals;

struct image {
    bool is_raw() const;
    std::size_t rows() const;
    std::size_t stride() const;
};
struct item {};
struct batch {
    std::size_t size() const;
    std::vector<weir::draw> draws;
};
struct lap_printer final : weir::run_report {
    void lap(const weir::pipeline_stats& one) override;
};
struct doc {
    bool is_long() const;
};
struct packet {};
struct decoder {
    int operator()(packet);
};
struct device_driver {
    void on_completion(std::function<void()>);
};

void use(std::string&);
void use(int);
void load(std::uint64_t);
void visit(std::uint64_t);
void save(const std::vector<std::byte>&);
void train(batch&);
void train(std::string&, std::uint64_t);
std::vector<std::string> words_of(const std::string&);
std::vector<std::string> shuffled(const std::vector<std::string>&, std::uint64_t);
std::string download(const std::string&);
weir::task<> index(std::string);

// channel/item_size.hpp
template <> struct weir::item_size<image> {
    static std::size_t of(const image& i) noexcept { return i.rows() * i.stride(); }
};

namespace of_aggregate {
struct by_key {
    std::optional<batch> accumulate(item i);  // a batch, if one is full now
    std::optional<batch> flush();             // the stream, or an epoch, has ended: the rest
};
auto keyed = weir::source(std::vector<item>()) | weir::aggregate(by_key());
}  // namespace of_aggregate

weir::task<> of_async_generator(weir::async_generator<std::string> lines) {
    while (auto x = co_await lines.next()) use(*x);
}

namespace of_channel {
struct named {
    std::string name;
    int count;
};
weir::task<> emplace(weir::channel<named>& out, std::string name) {
    co_await out.emplace(std::move(name), 3);
}
}  // namespace of_channel

void of_diff(weir::run<int>& run) {
    std::cout << weir::diff(weir::read_run("monday.json").total, run.stats());
}

void of_brief_verdict(weir::run<int>& run) {
    if (const auto v = weir::brief_verdict(run.stats())) std::cerr << v->sentence << '\n';
}

namespace of_task {
weir::task<int> twice(int x) { co_return 2 * x; }
weir::task<> print_sum() {
    weir::task<int> first = twice(20);  // holds the 20; the body has not begun
    use(co_await std::move(first) + co_await twice(1));
}
weir::task<> print_both() {
    const auto [a, b] = co_await weir::when_all(twice(1), twice(2));
    use(a + b);
}
void wait() {
    weir::thread_pool pool(4);
    use(weir::sync_wait(pool, twice(21)));
}
}  // namespace of_task

namespace of_headspace {
void measure(weir::thread_pool& pool, const std::vector<batch>& batches) {
    const auto loader = weir::source(batches) | weir::sink();
    auto result = weir::headspace(loader, pool, [](batch& b) { train(b); });
    std::cout << result.sentence << '\n';
}
}  // namespace of_headspace

namespace of_tune {
bool is_lap_over();
void follow(weir::thread_pool& pool, const std::vector<batch>& batches) {
    auto run = (weir::source(batches) | weir::sink()).start(pool);
    weir::tuner tuner({.max_slots = 16, .max_threads = 8});
    for (auto& batch : run) {
        train(batch);
        if (is_lap_over()) std::cout << tuner.step(run, pool).sentence << '\n';
    }
}
bool train_for(weir::duration);
void all(weir::run<batch>& run) {
    const auto log = weir::tune(run, {.max_slots = 16}, [&] { return train_for(1s); });
}
}  // namespace of_tune

namespace of_pipe {
image decode(std::string);
auto decoded(const std::vector<std::string>& files) {
    return
        weir::source(files) | weir::pipe(decode, {.name = "decode", .concurrency = 4}) | weir::sink()
    ;
}
}  // namespace of_pipe

namespace of_cache {
image decode(std::string);
image augment(image);
auto repeated(const std::vector<std::string>& files) {
    return
        weir::source(files) | weir::pipe(decode) | weir::cache(90) | weir::pipe(augment) | weir::sink()
    ;
}
}  // namespace of_cache

void of_checkpoint(const weir::sampler& sampler, const weir::draw& draw) {
    weir::progress done(sampler.start());                      // each rank, while it runs
    done.took(draw);
    save(done.checkpoint().to_bytes());
}
void of_checkpoints(std::span<const weir::checkpoint> those_of_all_ranks, std::uint64_t n, weir::shard mine) {
    auto all = weir::checkpoint::merge(those_of_all_ranks);    // later, with any number of ranks
    weir::sampler next({.size = n, .seed = 7, .shard = mine, .resume = all});
}

auto of_epochs(const std::vector<std::string>& files) {
    return
        weir::source(weir::epochs([&](std::uint64_t epoch) { return shuffled(files, epoch); }, 90))
    ;
}
auto of_draws(std::uint64_t n, weir::shard mine, const weir::checkpoint& saved) {
    return
        weir::source(weir::draws(weir::sampler({.size = n, .shard = mine, .resume = saved}), 90))
    ;
}

namespace of_generator {
weir::generator<int> count(int n) {
    for (int i = 0; i < n; ++i) co_yield i;
}
void counts() {
    for (int i : count(3)) use(i);
}
}  // namespace of_generator

void of_external_wait(device_driver& driver, weir::executor& ex, std::coroutine_handle<> h) {
    auto promised = std::make_shared<weir::external_wait>();
    driver.on_completion([promised, &ex, h] { ex.post(h); });
}

auto of_flat_map() {
    return
        weir::flat_map([](const std::string& line) { return words_of(line); })
    ;
}

namespace of_for_each {
image shrink(const std::string&);
void write(image);
void written(const std::vector<std::string>& files, weir::thread_pool& pool) {
    auto run = (weir::source(files) | weir::pipe(shrink) | weir::for_each(write)).start(pool);
    std::cout << run.wait().items << " files written";
}
void of_threads(weir::run<void>& run) {
    auto all = run.wait();      // a thread
    static_cast<void>(all);
}
weir::task<> of_coroutines(weir::run<void>& run) {
    auto all = co_await run;    // a coroutine
    static_cast<void>(all);
}
}  // namespace of_for_each

void of_reports(weir::thread_pool& pool) {
    const auto pipeline = weir::source({1, 2, 3}) | weir::sink();
    std::cout << weir::profile(pipeline, pool, 1000);
    std::cout << weir::describe(pipeline);
}

namespace of_invocation {
image decode(image, std::size_t);
auto told =
    weir::pipe([](image i, const weir::invocation& call) { return decode(i, call.slot()); })
;
}  // namespace of_invocation

auto of_merge(const std::vector<image>& some) {
    const auto cats = weir::source(some);
    const auto dogs = weir::source(some);
    auto p = weir::merge({.order = weir::merge_order::round_robin}, cats, dogs) | weir::sink();
    return p;
}

void of_permutation() {
    const weir::permutation order(1'000'000, 42);
    for (std::uint64_t i = 0; i < order.size(); ++i) visit(order[i]);
}

auto of_per_slot() {
    return
        weir::pipe(weir::per_slot([] { return [d = decoder()](packet p) mutable { return d(p); }; }),
                   {.concurrency = 4})
    ;
}

namespace of_pipeline {
void train(std::vector<image>&);
image decode(std::string);
image resize(image);
void runs(const std::vector<std::string>& files, weir::thread_pool& pool) {
    auto prepare = weir::pipe(decode) | weir::pipe(resize, {.concurrency = 4});
    auto loader = weir::source(files) | prepare | weir::aggregate(32) | weir::sink();
    auto run = loader.start(pool);
}
void reports(auto& loader, weir::thread_pool& pool) {
    {
    auto csv = std::make_shared<weir::csv_report>("run.csv");
    auto run = loader.start(pool, {.lap = 1s, .reports = {csv}});
    }
    {
    auto view = std::make_shared<weir::live_view>(weir::live_view_options{.total = 10'000});
    auto run = loader.start(pool, {.lap = 250ms, .reports = {view}});
    }
    {
    auto recorder = std::make_shared<weir::run_recorder>("training", weir::describe(loader));
    auto run = loader.start(pool, {.lap = 1s, .reports = {recorder}});
    for (auto& batch : run) train(batch);
    run.stop();  // when this returns, the end of the run is recorded
    weir::write_json("run.json", *recorder);
    }
    {
    auto metrics = std::make_shared<weir::metrics_file>("/var/lib/node_exporter/training.prom");
    auto run = loader.start(pool, {.lap = 15s, .reports = {metrics}});
    }
    {
    const auto page = std::make_shared<weir::html_report>("run.html", "training", weir::describe(loader));
    auto run = loader.start(pool, {.lap = 1s, .reports = {page}});
    }
    {
    const auto laps = std::make_shared<lap_printer>();
    auto run = loader.start(pool, {.lap = 1s, .reports = {laps}});
    }
}
}  // namespace of_pipeline

void of_priority_lanes(weir::thread_pool& pool) {
    weir::priority_lanes lanes(pool);
    weir::executor& decode = lanes.add();
    weir::executor& train = lanes.add();   // has priority over decode
    static_cast<void>(decode);
    static_cast<void>(train);
}

void of_progress(const weir::sampler& sampler, weir::run<batch>& run) {
    weir::progress done(sampler.start());
    for (batch& b : run) {
        for (const weir::draw& d : b.draws) done.took(d);
        train(b);
    }
    save(done.checkpoint().to_bytes());
}

void of_failure_log(const std::vector<batch>& batches, weir::thread_pool& pool) {
    const auto pipeline = weir::source(batches) | weir::sink();
    weir::failure_log log(std::clog);
    auto run = pipeline.start(pool, {.max_failures = weir::unlimited, .on_failure = log});
    for (auto& batch : run) train(batch);
    log.summary();
}

auto of_retry() {
    return
        weir::pipe(weir::retry(download, {.attempts = 5, .delay = 100ms}), {.concurrency = 16})
    ;
}

namespace of_route {
image develop(image);
image decode(image);
auto routed = weir::source(std::vector<image>()) |
    weir::route([](const image& i) { return i.is_raw() ? "raw" : "jpeg"; },
                weir::branch("raw", weir::pipe(develop, {.concurrency = 4})),
                weir::branch("jpeg", weir::pipe(decode)))
;
}  // namespace of_route

weir::task<> of_run(weir::run<batch>& run) {
    for (auto& batch : run) train(batch);                  // a thread
    while (auto batch = co_await run.next()) train(*batch);  // a coroutine
}
void of_run_epochs(const std::vector<std::string>& files, weir::thread_pool& pool) {
    auto run = (weir::source(weir::epochs(files, 3)) | weir::sink()).start(pool);
    for (auto& epoch : run.epochs())
        for (auto& batch : epoch) train(batch, epoch.number());
}

struct tracer : weir::hook {};
void of_defaults() {
    weir::set_defaults({.hooks = {std::make_shared<tracer>()}});
}

void of_sampler(weir::sampler& sampler) {
    while (auto d = sampler.next()) load(d->index);   // one epoch; repeated, the next epoch
}
void of_samplers(const std::vector<double>& weights) {
    {
        weir::sampler mine({.size = 50'000, .seed = 7, .shard = {2, 8}, .tail = weir::tail::pad});
    }
    weir::weighted_sampler mine(weights, {.draws = 10'000, .seed = 7, .shard = {2, 8}});
}

struct file {
    void decode(std::span<std::uint8_t>) const {}
};
void of_batch_slots(const std::vector<file>& files) {
    constexpr std::size_t pixels = 224UL * 224 * 3;
    weir::block_pool blocks(64 * pixels, 6);
    const auto decode = [](const file& f, std::span<std::uint8_t> place) { f.decode(place); };
    auto p = weir::source(files) |
             weir::batch_slots<std::uint8_t>(blocks, {.places = 64, .elements = pixels}, decode,
                                             {.name = "decode", .concurrency = 8}) |
             weir::sink(3);
}

auto of_shuffle(const std::vector<std::string>& files) {
    return
        weir::source(weir::epochs(files)) | weir::shuffle(10'000, 42) | weir::aggregate(32) | weir::sink()
    ;
}

auto my_pipeline() { return weir::source(std::views::iota(0, 20)) | weir::sink(); }
void of_explore() {
    weir::simulation::explore([](weir::simulation::world& w) {
        auto run = my_pipeline().start<weir::simulation::stepwise>(w);
        int items = 0;
        while (run.get()) ++items;
        w.demand(items == 20, "20 items come out");
    }, {.schedules = 100'000});
}
void CHECK(bool);
void of_explore_pipeline(const std::vector<batch>& batches) {
    const auto pipeline = weir::source(batches) | weir::sink();
    weir::simulation::explore(pipeline, [](std::vector<batch> all) { CHECK(all.size() == 7); });
}
void of_identities(weir::simulation::world& w, const weir::run<batch>& run) {
    w.always([&] { weir::simulation::check_identities(run.stats()); });
}

namespace of_split {
std::vector<doc> chop(std::vector<doc>);
std::vector<doc> pack(std::vector<doc>);
auto divided = weir::source(std::vector<std::vector<doc>>()) |
    weir::split([](const doc& d) { return d.is_long() ? "long" : "short"; },
                weir::branch("long", weir::pipe(chop)), weir::branch("short", weir::pipe(pack)))
;
}  // namespace of_split

namespace of_stage_list {
std::function<image(image)> filter(const std::string& name);
auto filtered(const std::vector<std::string>& names, const std::vector<image>& images) {
    weir::stage_list<image> filters;
    for (const auto& name : names) filters.add(weir::pipe(filter(name), {.name = name}));
    auto p = weir::source(images) | filters | weir::sink();
    return p;
}
}  // namespace of_stage_list

weir::task<> of_task_group(const std::vector<std::string>& files, weir::thread_pool& pool) {
    weir::task_group group(pool);
    for (auto& file : files) group.spawn(index(file));
    co_await group.join();
}

namespace of_tee {
int preview(const image&);
int encode(image);
auto copied(const std::vector<image>& frames) {
    return
        weir::source(frames) | weir::tee(weir::pipe(preview)) | weir::pipe(encode) | weir::sink()
    ;
}
}  // namespace of_tee

template <class Loader>
void of_trace(const Loader& loader, weir::thread_pool& pool) {
    auto trace = std::make_shared<weir::trace_report>("run.trace.json");
    auto run = loader.start(pool, {.reports = {trace}});
}

template <class Server>
void of_explain_all_runs(Server& server) {
    server.on("/debug/runs", [] { return weir::explain_all_runs(); });
}

#if !defined(_WIN32)
void of_explain_on_signal() {
    weir::explain_on_signal(SIGUSR1);       // kill -USR1 PID
}
#endif

void of_watchdog() {
    weir::thread_pool pool;
    weir::blocking_pool io(8);
    weir::watchdog dog({pool, io});     // all executors there are
}

namespace of_zip {
int pair_up(std::tuple<image, int>);
auto rows(const std::vector<image>& some, const std::vector<int>& others) {
    const auto images = weir::source(some);
    const auto labels = weir::source(others);
    auto p = weir::zip(images, labels) | weir::pipe(pair_up) | weir::sink();
    return p;
}
}  // namespace of_zip

namespace of_channels {
struct request {
    explicit request(int);
};
int answer(request);
void of_a_source(weir::thread_pool& pool) {
    weir::channel<request> requests(100);
    auto run = (weir::source(requests) | weir::pipe(answer) | weir::sink()).start(pool);
    requests.blocking_put(request(1));   // in any thread; returns `closed` after the end of the run
}
struct picture {};
picture decode(const std::string&);
void show(picture);
void of_a_sink(const std::vector<std::string>& files, weir::thread_pool& pool) {
    weir::channel<picture> pictures(8);
    auto run = (weir::source(files) | weir::pipe(decode) | weir::sink_to(pictures)).start(pool);
    while (auto p = pictures.blocking_get()) show(*std::move(p));
}
}  // namespace of_channels

namespace of_traverse {
struct folder {
    std::vector<folder> folders() const;
    std::uint64_t size() const;
};
auto of_a_feeder() {
    return
        weir::traverse([](folder f, weir::feeder<folder>& more) {
            for (folder& sub : f.folders()) more.add(std::move(sub));
            return f.size();
        })
    ;
}
auto whole(folder root) {
    auto sizes = weir::source({root})
               | weir::traverse([](folder f, weir::feeder<folder>& more) {
                     for (folder& sub : f.folders()) more.add(std::move(sub));
                     return f.size();
                 }, {.concurrency = 4})
               | weir::sink();
    return sizes;
}
}  // namespace of_traverse

auto of_stop_on_signals(weir::thread_pool& pool) {
    const auto pipeline = weir::source({1, 2, 3}) | weir::sink();
    const weir::stop_on_signals interrupted({SIGINT, SIGTERM});
    auto run = pipeline.start(pool, {.stop = interrupted});
    return run;
}

weir::task<> of_select(weir::channel<int>& jobs, weir::channel<int>& orders, void (*work)(int)) {
    auto done = co_await weir::select(weir::on_get(jobs), weir::on_get(orders), weir::after(10ms));
    if (done.index() == 0 && done.status() == weir::channel_status::success) work(*done.get<0>());
}

weir::task<> of_select_from_a_range(std::vector<weir::channel<int>*> queues, weir::stop_token stop,
                                    void (*work)(std::size_t, int)) {
    auto done = co_await weir::select(weir::on_get(queues), weir::after(10ms), stop);
    if (done.index() == 0 && done.get<0>()) work(done.get<0>().which(), *done.get<0>());
}

void of_predict(const weir::recording& recorded) {
    weir::pipeline_settings changed = recorded.settings;
    changed.stage("decode").concurrency = 4;
    std::cout << weir::predict(changed, recorded).rate;
}

weir::rank_stats of_ranks(const auto& run, const std::vector<std::string>& outlines, std::size_t rank,
                          std::span<const std::uint64_t> sum_of_words) {
    const weir::rank_layout layout(outlines);                     // one rank_outline(run.stats()) each
    auto words = layout.pack(run.stats(), rank);                  // on each rank
    const weir::rank_stats of_all = layout.unpack(sum_of_words);  // on the rank that has the sum
    return of_all;
}
void of_stragglers(weir::straggler_watch& watch, const weir::rank_layout& layout,
                   std::span<const std::uint64_t> sum) {
    for (const weir::straggler& s : watch.add(layout.unpack(sum))) std::cerr << line_text(s) << '\n';
}

void of_checkpoint_file(const std::vector<weir::checkpoint>& those_of_all_ranks) {
    weir::save_checkpoint("training.weir", weir::checkpoint::merge(those_of_all_ranks));
}

int main() {}
