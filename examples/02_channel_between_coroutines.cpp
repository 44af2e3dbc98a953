// Shows one level below pipelines: two coroutines, and the bounded channel between them.
// The producer is faster, so the channel fills up and `put` makes it wait: that is back-pressure.
#include <weir/channel/channel.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <iostream>
#include <string>

weir::task<> produce(weir::channel<std::string>& out, int lines) {
    for (int i = 1; i <= lines; ++i) {
        // false: the consumer has closed the channel and wants no more.
        const bool taken = co_await out.put("line " + std::to_string(i));
        if (!taken) break;
    }
    out.close();  // what is inside still comes out; then `get` gives an empty optional
}

weir::task<std::size_t> consume(weir::channel<std::string>& in) {
    std::size_t characters = 0;
    while (auto line = co_await in.get()) {
        std::cout << *line << '\n';
        characters += line->size();
    }
    co_return characters;
}

weir::task<std::size_t> both(weir::channel<std::string>& lines) {
    // Both run until both have ended. Arguments by reference are safe: whoever awaits outlives them.
    auto results = co_await weir::when_all(produce(lines, 5), consume(lines));
    co_return std::get<1>(results);
}

int main() {
    weir::channel<std::string> lines(2);
    // Runs the coroutines on this thread until they have ended; a thread_pool would do as well.
    const std::size_t characters = weir::sync_wait(both(lines));
    std::cout << characters << " characters\n";
}
