// Shows how a coroutine waits for the first of several channels, with a time-out.
// A meter takes readings and orders as they come, and reports when nothing has come for 25 ms.
#include <weir/channel/select.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/task/sleep.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <chrono>
#include <iostream>
#include <string>

using namespace std::chrono_literals;

weir::task<> meter(weir::channel<int>& readings, weir::channel<std::string>& orders,
                   weir::channel<int>& sums) {
    int sum = 0;
    for (bool goes_on = true; goes_on;) {
        // Exactly one of these cases happens. They are numbered from 0.
        auto done = co_await weir::select(weir::on_get(readings), weir::on_get(orders), weir::after(25ms));
        switch (done.index()) {
            case 0:
                if (auto& reading = done.get<0>()) {
                    sum += *reading;
                } else {
                    goes_on = false;  // the channel is closed and empty
                }
                break;
            case 1:
                std::cout << "order: " << done.get<1>().value() << '\n';
                break;
            default:
                std::cout << "quiet for 25 ms\n";
        }
    }
    // A put with a time-out. After a time-out the item would still be in `sum`.
    const weir::channel_status sent = co_await sums.put_for(sum, 10ms);
    std::cout << "sum " << sum << ": " << sent << '\n';
}

weir::task<> sensor(weir::channel<int>& readings) {
    for (const int n : {3, 4, 5}) {
        co_await weir::sleep_for(10ms);
        const bool taken = co_await readings.put(n);
        if (!taken) break;
    }
    co_await weir::sleep_for(40ms);
    readings.close();
}

weir::task<> boss(weir::channel<std::string>& orders, weir::channel<int>& sums) {
    co_await weir::sleep_for(15ms);
    co_await orders.put("go on");
    auto sum = co_await sums.get_for(1s);
    std::cout << "received " << sum.value() << '\n';
}

int main() {
    weir::virtual_time clock;  // on a thread_pool the same happens in real time
    weir::channel<int> readings(4), sums(1);
    weir::channel<std::string> orders(1);
    weir::sync_wait(clock,
                    weir::when_all(meter(readings, orders, sums), sensor(readings), boss(orders, sums)));
}
