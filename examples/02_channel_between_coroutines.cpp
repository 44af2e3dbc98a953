// Shows two coroutines and a bounded channel between them, the level below pipelines.
// The producer is faster: the channel becomes full, and `put` makes the producer wait (back-pressure).
#include <weir/channel/channel.hpp>
#include <weir/task/sync_wait.hpp>
#include <weir/task/task.hpp>
#include <weir/task/when_all.hpp>

#include <iostream>
#include <string>

weir::task<> produce(weir::channel<std::string>& out, int lines) {
    for (int i = 1; i <= lines; ++i) {
        // false: the consumer has closed the channel.
        const bool taken = co_await out.put("line " + std::to_string(i));
        if (!taken) break;
    }
    out.close();  // items inside are still delivered; then `get` gives an empty optional
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
    // Ends when both have ended. References are safe: this coroutine outlives the two.
    auto results = co_await weir::when_all(produce(lines, 5), consume(lines));
    co_return std::get<1>(results);
}

int main() {
    weir::channel<std::string> lines(2);
    // Runs the coroutines on this thread until they have ended. A thread_pool works as well.
    const std::size_t characters = weir::sync_wait(both(lines));
    std::cout << characters << " characters\n";
}
