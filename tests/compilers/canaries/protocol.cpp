// SPDX-License-Identifier: BSL-1.0
// What a coroutine promises around its body: start, end, failure, destruction, transfer.
#include <string.h>
#include <stdexcept>

#include "canary.hpp"

// The least a promise needs; the canaries below replace what they are about.
template <class Job>
struct basic_promise : counted_frame {
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    void return_void() noexcept {}
    void unhandled_exception() { throw; }
};

struct frame_owner {
    explicit frame_owner(std::coroutine_handle<> h) : frame(h) {}
    frame_owner(frame_owner&& other) noexcept : frame(std::exchange(other.frame, {})) {}
    ~frame_owner() {
        if (frame) frame.destroy();
    }
    std::coroutine_handle<> frame;
};

// other: get_return_object gives another type, which converts
namespace return_object_converts {
struct job;
struct made {
    std::coroutine_handle<> frame;
    tracked t;
};
struct job {
    struct promise_type : basic_promise<job> {
        made get_return_object() {
            return {std::coroutine_handle<promise_type>::from_promise(*this), tracked(3)};
        }
    };
    job(made m) : owner(m.frame), t(std::move(m.t)) {}
    frame_owner owner;
    tracked t;
};
job work() { co_return; }
bool run() {
    job j = work();
    j.owner.frame.resume();
    return j.t.value() == 3 && j.owner.frame.done();
}
}  // namespace return_object_converts

// other: get_return_object gives another type, and the body ends before its caller goes on
namespace return_object_converts_late {
struct made {
    int* place;
    tracked t;
};
struct job {
    struct promise_type : counted_frame {
        made get_return_object() { return {nullptr, tracked(3)}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() { abort(); }
    };
    job(made m) : t(std::move(m.t)) {}
    tracked t;
};
job work(int& calls) {
    ++calls;
    co_return;
}
bool run() {
    int calls = 0;
    job j = work(calls);
    return j.t.value() == 3 && calls == 1;
}
}  // namespace return_object_converts_late

// other: get_return_object gives another type, and the body fails before its first suspension
namespace return_object_converts_body_fails {
struct made {
    tracked t;
};
struct job {
    struct promise_type : counted_frame {
        made get_return_object() { return {tracked(3)}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() { throw; }
    };
    job(made m) : t(std::move(m.t)) {}
    tracked t;
};
job work() {
    throw std::runtime_error("at once");
    co_return;
}
bool run() {
    try {
        job j = work();
    } catch (const std::runtime_error&) {
        return true;
    }
    return false;
}
}  // namespace return_object_converts_body_fails

// library: get_return_object gives the type itself
namespace return_object_exact {
struct job {
    struct promise_type : basic_promise<job> {
        job get_return_object() {
            return job(std::coroutine_handle<promise_type>::from_promise(*this));
        }
    };
    explicit job(std::coroutine_handle<> h) : owner(h), t(3) {}
    frame_owner owner;
    tracked t;
};
job work() { co_return; }
bool run() {
    job j = work();
    j.owner.frame.resume();
    return j.t.value() == 3 && j.owner.frame.done();
}
}  // namespace return_object_exact

template <int At>
struct fragile {
    struct promise_type : counted_frame {
        promise_type() {
            if (At == 0) throw std::runtime_error("constructor");
        }
        fragile get_return_object() {
            if (At == 1) throw std::runtime_error("get_return_object");
            return fragile(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() {
            if (At == 2) throw std::runtime_error("initial_suspend");
            return {};
        }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() { throw; }
        tracked t{3};
    };
    // Where initial_suspend throws, the frame is not this object's yet.
    explicit fragile(std::coroutine_handle<> h) : owner(At == 2 ? nullptr : h) {}
    frame_owner owner;
};
template <int At>
fragile<At> break_at(tracked t) {
    tracked u(t.value());
    if (At == 3) throw std::runtime_error("body");
    co_return;
}
template <int At>
bool breaks_at() {
    try {
        fragile<At> f = break_at<At>(tracked(1));
        f.owner.frame.resume();
    } catch (const std::runtime_error&) {
        return true;
    }
    return false;
}

// clean: the promise's constructor throws
namespace promise_throws {
bool run() { return breaks_at<0>(); }
}  // namespace promise_throws

// clean: get_return_object throws
namespace return_object_throws {
bool run() { return breaks_at<1>(); }
}  // namespace return_object_throws

// clean: initial_suspend throws
namespace initial_suspend_throws {
bool run() { return breaks_at<2>(); }
}  // namespace initial_suspend_throws

// library: the body throws, and unhandled_exception lets it through
namespace body_throws {
bool run() { return breaks_at<3>(); }
}  // namespace body_throws

// clean: copying a parameter throws
namespace parameter_throws {
struct fuse {
    fuse() = default;
    fuse(const fuse&) { throw std::runtime_error("copy"); }
    tracked t;
};
task<bool> child(tracked, fuse) { co_return true; }
bool run() {
    fuse f;
    try {
        task<bool> t = child(tracked(1), f);
    } catch (const std::runtime_error&) {
        return true;
    }
    return false;
}
}  // namespace parameter_throws

// library: a parameter is moved into the frame
namespace parameter_moves {
task<int> child(tracked t) {
    co_await turn();
    co_return t.value();
}
task<bool> run() {
    tracked t(3);
    const int n = co_await child(std::move(t));
    co_return n == 3;
}
}  // namespace parameter_moves

// library: destroyed before it started
namespace never_started {
task<int> child(tracked t) { co_return t.value(); }
bool run() {
    task<int> t = child(tracked(3));
    return true;
}
}  // namespace never_started

// library: destroyed while suspended
namespace destroyed_suspended {
task<int> child(tracked t) {
    tracked u(t.value());
    co_await std::suspend_always();
    co_return u.value();
}
bool run() {
    task<int> t = child(tracked(3));
    t.frame().resume();
    return !t.frame().done();
}
}  // namespace destroyed_suspended

// library: destroyed while a child is suspended
namespace destroyed_with_child {
task<int> grandchild(tracked t) {
    co_await std::suspend_always();
    co_return t.value();
}
task<int> child(tracked t) { co_return co_await grandchild(std::move(t)); }
bool run() {
    task<int> t = child(tracked(3));
    t.frame().resume();
    return !t.frame().done();
}
}  // namespace destroyed_with_child

// library: destroyed while an awaiter with members waits
namespace destroyed_in_awaiter {
struct waits {
    explicit waits(tracked t) : t(std::move(t)) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) {}
    int await_resume() { return t.value(); }
    tracked t;
};
task<int> child() { co_return co_await waits(tracked(3)); }
bool run() {
    task<int> t = child();
    t.frame().resume();
    return !t.frame().done();
}
}  // namespace destroyed_in_awaiter

// A coroutine that nobody owns.
struct loose {
    struct promise_type : counted_frame {
        loose get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() { abort(); }
    };
};

// other: await_suspend destroys the frame
namespace destroyed_by_own_awaiter {
struct destroyer {
    explicit destroyer(tracked t) : t(std::move(t)) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) { h.destroy(); }
    void await_resume() {}
    tracked t;
};
loose work(tracked t) {
    tracked u(t.value());
    co_await destroyer(tracked(3));
    abort();
}
bool run() {
    work(tracked(3));
    return true;
}
}  // namespace destroyed_by_own_awaiter

// other: await_suspend destroys the frame, whose memory is overwritten, and goes elsewhere
namespace destroyed_and_transferred {
struct promise_frame {
    static void* operator new(size_t size) {
        ++the_books.frames;
        last_size = size;
        return malloc(size);
    }
    static void operator delete(void* p) {
        --the_books.frames;
        memset(p, 0xaa, last_size);
        free(p);
    }
    static inline size_t last_size = 0;
};
struct job {
    struct promise_type : promise_frame {
        job get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        std::suspend_never final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() { abort(); }
    };
};
struct destroyer {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) {
        h.destroy();
        return std::noop_coroutine();
    }
    void await_resume() {}
};
job work(tracked t) {
    tracked u(t.value());
    co_await destroyer();
    abort();
}
bool run() {
    work(tracked(3));
    return true;
}
}  // namespace destroyed_and_transferred

// library: the final awaiter destroys the frame
namespace destroyed_at_its_end {
struct job {
    struct promise_type : counted_frame {
        struct last {
            bool await_ready() const noexcept { return false; }
            void await_suspend(std::coroutine_handle<> h) const noexcept { h.destroy(); }
            void await_resume() const noexcept {}
        };
        job get_return_object() { return {}; }
        std::suspend_never initial_suspend() noexcept { return {}; }
        last final_suspend() noexcept { return {}; }
        void return_void() noexcept {}
        void unhandled_exception() { abort(); }
        tracked t{3};
    };
};
job work(tracked t) {
    tracked u(t.value());
    co_await turn();
}
bool run() {
    work(tracked(3));
    run_ready();
    return true;
}
}  // namespace destroyed_at_its_end

// library: a chain of children, each resumed by its parent's await
namespace transfer_chain {
task<int> child(int depth) {
    if (depth == 0) co_return 0;
    tracked t(1);
    const int n = co_await child(depth - 1);
    co_return n + t.value();
}
task<bool> run() {
    const int n = co_await child(50);
    co_return n == 50;
}
}  // namespace transfer_chain

// library: await_suspend gives the same coroutine's handle
namespace transfer_to_itself {
struct again {
    explicit again(int n) : n(n) {}
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) const { return h; }
    int await_resume() const { return n; }
    int n;
};
task<bool> run() {
    int sum = 0;
    for (int i = 0; i < 100; ++i) sum += co_await again(i);
    co_return sum == 4950;
}
}  // namespace transfer_to_itself

// library: await_suspend gives the handle of nothing
namespace transfer_to_nothing {
struct parks {
    bool await_ready() const noexcept { return false; }
    std::coroutine_handle<> await_suspend(std::coroutine_handle<> h) const {
        post(h);
        return std::noop_coroutine();
    }
    void await_resume() const noexcept {}
};
task<bool> run() {
    co_await parks();
    co_await parks();
    co_return true;
}
}  // namespace transfer_to_nothing

// library: a failure passes through children and is caught
namespace failure_passes {
task<int> grandchild(tracked t) {
    co_await turn();
    throw std::runtime_error("deep");
    co_return t.value();
}
task<int> child(tracked t) {
    tracked u(2);
    const int n = co_await grandchild(std::move(t));
    co_return n + u.value();
}
task<bool> run() {
    bool caught = false;
    try {
        const int n = co_await child(tracked(1));
        (void)n;
    } catch (const std::runtime_error&) {
        caught = true;
    }
    co_return caught;
}
}  // namespace failure_passes

// clean: await_suspend of an awaiter with a constructor throws, the awaiter is destroyed once
namespace await_suspend_throws {
struct refuses {
    explicit refuses(tracked t) : t(std::move(t)) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) { throw std::runtime_error("refused"); }
    int await_resume() { return t.value(); }
    tracked t;
};
task<bool> run() {
    bool caught = false;
    try {
        const int n = co_await refuses(tracked(3));
        (void)n;
    } catch (const std::runtime_error&) {
        caught = true;
    }
    co_await turn();
    co_return caught;
}
}  // namespace await_suspend_throws
