// Shows a test of coroutines under thousands of schedules: one that fails is found, shortened, and repeated.
// Two coroutines book from one account; the second uses a value that it read before a `co_await`.
#include <weir/channel/channel.hpp>
#include <weir/simulation.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <iostream>

namespace {

namespace sim = weir::simulation;
using slips = weir::channel<int, sim::stepwise>;  // after each operation any other coroutine may run

weir::task<> careful(int& account, slips& book, int amount) {
    account -= amount;
    const bool booked = co_await book.put(amount);
    if (!booked) account += amount;
}

weir::task<> careless(int& account, slips& book, int amount) {
    const int before = account;
    const bool booked = co_await book.put(amount);  // meanwhile the other clerk may have changed the account
    if (booked) account = before - amount;
}

void two_clerks(sim::world& w) {
    int account = 100;
    slips book(1, w);
    const auto file = [](slips& from) -> weir::task<> {
        for (int i = 0; i < 2; ++i) co_await from.get();
    };
    weir::sync_wait(w, weir::when_all(careful(account, book, 10), careless(account, book, 20), file(book)));
    w.demand(account == 70, "no booking is lost");
}

}  // namespace

int main() {
    try {
        const auto done = sim::explore(two_clerks, {.schedules = 10'000});
        std::cout << done.schedules << " schedules, and nothing wrong\n";
    } catch (const sim::schedule_failure& e) {
        std::cout << e.what() << "\n\nonce more, by its schedule:\n";
        try {
            sim::explore(two_clerks, {.replay = e.schedule()});
        } catch (const sim::schedule_failure& again) {
            std::cout << again.what() << '\n';
        }
    }
}
