// The work-stealing deque: each item is taken exactly once, and with it what was written before it was
// pushed.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/deque.hpp>

#include "suite.hpp"

namespace {

using namespace models;

// Where the system has no fence between threads.
struct without_fences : platform {
    static bool has_heavy_fence() { return false; }
};

template <class Platform>
struct queue {
    static constexpr int most = 6;
    weir::detail::basic_work_stealing_deque<Platform> deque;
    plain<int> items[most];
    int taken[most] = {};
    int pushed = 0;

    // The indices wrap within the first few pushes.
    explicit queue(std::size_t capacity) : deque(capacity, ~std::uint64_t{0} - 1) {}

    void push() {
        items[pushed].set(pushed);
        deque.push_bottom(&items[pushed++]);
    }
    bool took(void* address) {
        if (address == nullptr) return false;
        const auto* it = static_cast<plain<int>*>(address);
        expect(it >= items && it < items + most, "what was taken is no item");
        expect(it->get() == it - items, "an item was taken before it was written");
        expect(++taken[it - items] == 1, "an item was taken twice");
        return true;
    }
    bool pop() { return took(deque.pop_bottom()); }
    bool steal_with_fence() { return took(deque.steal_with_fence()); }
    bool steal() { return took(deque.steal()); }
    void drain() {
        while (pop()) {
        }
        for (int i = 0; i < pushed; ++i) expect(taken[i] == 1, "an item was lost");
    }
};

// The owner works on its end while thieves take from the other.
template <int Thieves, class Platform = platform>
struct stealing : suite<stealing<Thieves, Platform>, Thieves + 1> {
    queue<Platform> q{4};

    void run(int me) {
        if (me == 0) {
            q.push();
            q.push();
            q.pop();
            q.push();
            q.pop();
            q.pop();
        } else {
            q.steal_with_fence();
            q.steal_with_fence();
        }
    }
    void after() { q.drain(); }
};

// Two and more want the last one.
template <int Thieves, class Platform = platform>
struct last_one : suite<last_one<Thieves, Platform>, Thieves + 1> {
    queue<Platform> q{2};

    void run(int me) {
        if (me == 0) {
            q.push();
            q.pop();
        } else {
            q.steal_with_fence();
        }
    }
    void after() { q.drain(); }
};

// The ring grows twice while a thief reads from it.
struct growing : suite<growing, 2> {
    queue<platform> q{1};

    void run(int me) {
        if (me == 0) {
            for (int i = 0; i < 4; ++i) q.push();
            q.pop();
        } else {
            for (int i = 0; i < 3; ++i) q.steal_with_fence();
        }
    }
    void after() { q.drain(); }
};

// Places are used again: the owner takes at the top, too.
struct wrapping : suite<wrapping, 2> {
    queue<platform> q{2};

    void run(int me) {
        if (me == 0) {
            for (int i = 0; i < 3; ++i) {
                q.push();
                q.push();
                q.steal();
                q.pop();
            }
        } else {
            for (int i = 0; i < 3; ++i) q.steal_with_fence();
        }
    }
    void after() { q.drain(); }
};

// What came after a mark stays, as long as the owner doesn't pop.
struct marked : suite<marked, 3> {
    queue<platform> q{2};
    std::uint64_t mark = 0;

    void before() {
        q.push();
        mark = q.deque.bottom();
    }
    void run(int me) {
        if (me == 0) {
            q.push();
            q.push();
        } else {
            for (int i = 0; i < 2; ++i) q.took(q.deque.steal_before(mark));
        }
    }
    void after() {
        expect(q.taken[0] == 1 && q.taken[1] == 0 && q.taken[2] == 0, "the mark was not kept");
        q.drain();
    }
};

}  // namespace

int main(int argc, char** argv) {
    return run_all(argc, argv,
                   {
                       check<stealing<1>>("deque/one thief", 400'000),
                       check<stealing<2>>("deque/two thieves", 300'000),
                       check<last_one<2>>("deque/the last one", 400'000),
                       check<stealing<2, without_fences>>("deque/two thieves, no fences", 300'000),
                       check<last_one<2, without_fences>>("deque/the last one, no fences", 400'000),
                       check<growing>("deque/growth", 300'000),
                       check<wrapping>("deque/places used again", 300'000),
                       check<marked>("deque/a mark", 300'000),
                       check_every_order<last_one<1>>("deque/every order", 3),
                   });
}
