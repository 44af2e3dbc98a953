#include <weir/detail/stop_state.hpp>

#include "support/catch.hpp"

#include <atomic>
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

}  // namespace

TEST_CASE("a stop state runs the nodes that are in it, the newest first") {
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

TEST_CASE("a stop state can be stopped while it has a source or was stopped") {
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

TEST_CASE("a reference to a stop state counts") {
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

TEST_CASE("a stop state takes the platform's word for which thread this is") {
    using sim_node = weir::detail::basic_stop_node<simulated>;
    using sim_state = weir::detail::basic_stop_state<simulated>;
    struct blocking : sim_node {
        blocking() noexcept : sim_node(&run) {}
        static void run(sim_node& self) noexcept {
            auto& me = static_cast<blocking&>(self);
            me.running = true;
            while (!me.leave) std::this_thread::yield();
        }
        std::atomic<bool> running{false};
        std::atomic<bool> leave{false};
    } node_of_1;
    const weir::detail::basic_stop_ref<simulated> s(new sim_state);
    s->add(node_of_1);
    simulated::current = 1;
    std::thread requester([&] { s->request(); });
    while (!node_of_1.running) std::this_thread::yield();
    // For the system this is another thread, which would sleep until the callback is out. For the
    // platform it is the same one, inside the callback: it returns.
    s->remove(node_of_1);
    node_of_1.leave = true;
    requester.join();
    CHECK(s->requested());
}
