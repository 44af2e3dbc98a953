#include <weir/task/stop_state.hpp>

#include "support/catch.hpp"

#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>

namespace {

using node = weir::detail::basic_stop_node<>;
using state = weir::detail::basic_stop_state<>;
using ref = weir::detail::basic_stop_ref<>;

struct recording : node {
    explicit recording(int& place) noexcept : node(&run), calls(&place) {}
    static void run(node& self) noexcept { ++*static_cast<recording&>(self).calls; }
    int* calls;
};

// What a simulator supplies: threads of its own, of which the system knows nothing.
struct simulated : weir::detail::standard_platform {
    static inline std::atomic<int> current{0};
    static int this_thread() noexcept { return current; }
};

// Tells when a thread goes to sleep.
struct watched : weir::detail::standard_platform {
    static inline std::atomic<bool> slept{false};
    static void wait(atomic<std::uint32_t>& word, std::uint32_t expected, std::int64_t timeout_ns) {
        slept = true;
        standard_platform::wait(word, expected, timeout_ns);
    }
};

// Runs until it is let go.
template <class Platform>
struct blocking : weir::detail::basic_stop_node<Platform> {
    using base = weir::detail::basic_stop_node<Platform>;
    blocking() noexcept : base(&run) {}
    static void run(base& self) noexcept {
        auto& me = static_cast<blocking&>(self);
        me.running = true;
        while (!me.leave) std::this_thread::yield();
        me.left = true;
    }
    std::atomic<bool> running{false};
    std::atomic<bool> leave{false};
    std::atomic<bool> left{false};
};

}  // namespace

TEST_CASE("a stop state runs its callbacks, the newest first") {
    const ref s(new state);
    int first = 0;
    int second = 0;
    int third = 0;
    recording a(first);
    recording b(second);
    recording c(third);
    CHECK(s->add(a));
    CHECK(s->add(b));
    CHECK(s->add(c));
    s->remove(b);
    CHECK_FALSE(s->requested());
    CHECK(s->request());
    CHECK(s->requested());
    CHECK_FALSE(s->request());
    CHECK(first == 1);
    CHECK(second == 0);
    CHECK(third == 1);
    s->remove(a);
    s->remove(c);
    CHECK_FALSE(s->add(b));
}

TEST_CASE("a stop state is possible while it has a source, or after a request") {
    const ref s(new state);
    CHECK(s->possible());
    s->add_source();
    s->remove_source();
    CHECK(s->possible());
    s->remove_source();
    CHECK_FALSE(s->possible());
    s->request();
    CHECK(s->possible());
}

TEST_CASE("a stop state lives as long as its last reference") {
    ref a;
    CHECK_FALSE(static_cast<bool>(a));
    ref b(new state);
    a = b;
    CHECK(a == b);
    ref c = std::move(b);
    CHECK(c == a);
    CHECK_FALSE(static_cast<bool>(b));  // NOLINT(bugprone-use-after-move): that is the test
    a = ref();
    c->request();
    CHECK(c->requested());
}

TEST_CASE("removing a callback that another thread runs sleeps until the callback has returned") {
    const weir::detail::basic_stop_ref<watched> s(new weir::detail::basic_stop_state<watched>);
    blocking<watched> node_of_1;
    s->add(node_of_1);
    std::thread requester([&] { s->request(); });
    while (!node_of_1.running) std::this_thread::yield();
    std::atomic<bool> removed{false};
    bool left_before = false;
    std::thread remover([&] {
        s->remove(node_of_1);
        left_before = node_of_1.left;
        removed = true;
    });
    while (!watched::slept && !removed) std::this_thread::yield();
    node_of_1.leave = true;
    remover.join();
    requester.join();
    CHECK(watched::slept);
    CHECK(left_before);
}

TEST_CASE("a stop state asks its platform for the current thread") {
    const weir::detail::basic_stop_ref<simulated> s(new weir::detail::basic_stop_state<simulated>);
    blocking<simulated> node_of_1;
    s->add(node_of_1);
    simulated::current = 1;
    std::thread requester([&] { s->request(); });
    while (!node_of_1.running) std::this_thread::yield();
    // For the system this is another thread, which would sleep until the callback is out. For the
    // platform it is the same one, inside the callback: it returns.
    s->remove(node_of_1);
    CHECK_FALSE(node_of_1.left);
    node_of_1.leave = true;
    requester.join();
    CHECK(node_of_1.left);
}
