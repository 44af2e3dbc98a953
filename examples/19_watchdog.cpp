// Shows a deadlock: a pipeline feeds its own source through a channel, and each page adds two links, so the channel
// becomes full and all stages wait for each other. A watchdog reports that, and the program continues.
#include <weir/channel/channel.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/report/table.hpp>
#include <weir/report/watchdog.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/task.hpp>

#include <atomic>
#include <iostream>
#include <optional>

// If `links` is full, this waits for the source, the source for room in its queue, and that queue for this.
weir::task<int> visit(int page, weir::channel<int>& links) {
    for (int side : {0, 1}) {
        const bool kept = co_await links.put(2 * page + side);
        if (!kept) break;  // closed: links are no longer followed
    }
    co_return page;
}

weir::task<std::optional<int>> next_page(weir::channel<int>& links) {
    auto link = co_await links.get();
    co_return link;
}

int main() {
    weir::thread_pool pool(2);
    weir::channel<int> links(8, pool, "links");
    static_cast<void>(links.try_put(1));

    const auto next = [&links] { return next_page(links); };
    const auto follow = [&links](int page) { return visit(page, links); };
    // clang-format off
    const auto crawler = weir::source(next, {.name = "next"})
                       | weir::pipe(follow, {.name = "visit", .concurrency = 4})
                       | weir::sink();
    // clang-format on
    auto run = crawler.start(pool);

    // The watchdog must know all executors: nothing is a deadlock while one of them may still act. Without
    // `on_deadlock` it writes to std::cerr.
    std::atomic<int> deadlocks{0};
    const auto tell = [&](const weir::deadlock_report& report) {
        ++deadlocks;
        std::cout << report << "\n\nall waits: " << report.waits.size() << ", the first is of stage '"
                  << report.waits.front().stage << "' for channel '" << report.waits.front().channel << "'\n";
        links.close();  // loses links: a real program would end here, and get a larger channel
    };
    const weir::watchdog dog({pool}, {.on_deadlock = tell});

    int pages = 0;
    for (int page : run) pages += page > 0 ? 1 : 0;
    // The table has a line if a run has stood still for 10 s or longer; `idle` is the time so far.
    std::cout << '\n' << pages << " pages\n\n" << run.stats();
    return deadlocks == 1 && pages > 8 && run.stats().idle == weir::duration(0) ? 0 : 1;
}
