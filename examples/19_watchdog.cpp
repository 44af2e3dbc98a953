// Shows a pipeline that feeds its own source through a channel. Each page gives two links, so the channel is
// full one day, and all wait for each other: a watchdog says who, the cause first, and the program goes on.
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

// Without room for a link it waits for the source, which waits for room for a page, which waits for this.
weir::task<int> visit(int page, weir::channel<int>& links) {
    for (int side : {0, 1}) {
        const bool kept = co_await links.put(2 * page + side);
        if (!kept) break;  // closed: no link is followed any more
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

    // It is given all executors: as long as somebody it knows may still act, nothing is a deadlock. Without
    // `on_deadlock` it writes to std::cerr.
    std::atomic<int> deadlocks{0};
    const auto tell = [&](const weir::deadlock_report& report) {
        ++deadlocks;
        std::cout << report << "\n\nall waits: " << report.waits.size() << ", the first is of stage '"
                  << report.waits.front().stage << "' for channel '" << report.waits.front().channel << "'\n";
        links.close();  // links are lost: an ordinary program would end here, and be given more room
    };
    const weir::watchdog dog({pool}, {.on_deadlock = tell});

    int pages = 0;
    for (int page : run) pages += page > 0 ? 1 : 0;
    // Of a run that stands still for 10 s or longer the table says so, too: `idle` is how long it is.
    std::cout << '\n' << pages << " pages\n\n" << run.stats();
    return deadlocks == 1 && pages > 8 && run.stats().idle == weir::duration(0) ? 0 : 1;
}
