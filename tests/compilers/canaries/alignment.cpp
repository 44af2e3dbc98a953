// SPDX-License-Identifier: BSL-1.0
// Objects in a frame that need more alignment than operator new promises. Whether a misplaced one happens
// to be aligned depends on the heap: here the canary says where its frame lies. No coroutine is inlined, or
// its frame would lie in its caller's.
#include <stdint.h>

#include <new>

#include "canary.hpp"

template <size_t Alignment>
struct alignas(Alignment) wide {
    int value = 3;
    bool in_place() const {
        // Through a volatile: a compiler may take for granted what is to be found out.
        const volatile uintptr_t address = reinterpret_cast<uintptr_t>(this);
        return address % Alignment == 0;
    }
};

// Frames at addresses that are multiples of 16, but not of 32.
struct odd_frame {
    static void* operator new(size_t size) {
        ++the_books.frames;
        char* p = static_cast<char*>(aligned_alloc(256, (size + 16 + 255) / 256 * 256));
        return p + 16;
    }
    static void operator delete(void* p) {
        --the_books.frames;
        free(static_cast<char*>(p) - 16);
    }
};

// Frames at addresses that fit anything here.
struct wide_frame {
    static void* operator new(size_t size) {
        ++the_books.frames;
        return aligned_alloc(256, (size + 255) / 256 * 256);
    }
    static void operator delete(void* p) {
        --the_books.frames;
        free(p);
    }
};

template <class Frame, class Member = char>
struct job {
    struct promise_type : Frame {
        job get_return_object() {
            return job(std::coroutine_handle<promise_type>::from_promise(*this));
        }
        std::suspend_always initial_suspend() noexcept { return {}; }
        std::suspend_always final_suspend() noexcept { return {}; }
        void return_value(bool b) { result = b; }
        void unhandled_exception() { abort(); }
        bool result = false;
        Member member{};
    };
    explicit job(std::coroutine_handle<promise_type> h) : frame(h) {}
    job(const job&) = delete;
    ~job() { frame.destroy(); }
    bool finish() {
        while (!frame.done()) frame.resume();
        return frame.promise().result;
    }
    std::coroutine_handle<promise_type> frame;
};

template <class Frame, size_t Alignment>
[[gnu::noinline]] job<Frame> with_local() {
    wide<Alignment> w;
    co_await std::suspend_always();
    co_return w.in_place();
}

template <class Frame, size_t Alignment>
[[gnu::noinline]] job<Frame> with_parameter(wide<Alignment> w) {
    co_await std::suspend_always();
    co_return w.in_place();
}

template <class Frame, size_t Alignment>
[[gnu::noinline]] job<Frame, wide<Alignment>> with_promise() {
    co_await std::suspend_always();
    co_return true;
}

template <size_t Alignment>
struct wide_awaiter {
    explicit wide_awaiter(int n) { w.value = n; }
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) {}
    bool await_resume() const { return w.in_place(); }
    wide<Alignment> w;
};

template <class Frame, size_t Alignment>
[[gnu::noinline]] job<Frame> with_awaiter() {
    const bool b = co_await wide_awaiter<Alignment>(3);
    co_return b;
}

// library: 16 bytes
namespace local_16 {
bool run() { return with_local<odd_frame, 16>().finish(); }
}  // namespace local_16

// other: a local of 32 bytes
namespace local_32 {
bool run() { return with_local<odd_frame, 32>().finish(); }
}  // namespace local_32

// other: a local of 64 bytes
namespace local_64 {
bool run() { return with_local<odd_frame, 64>().finish(); }
}  // namespace local_64

// other: a parameter of 64 bytes
namespace parameter_64 {
bool run() { return with_parameter<odd_frame, 64>({}).finish(); }
}  // namespace parameter_64

// other: a promise of 64 bytes
namespace promise_64 {
bool run() {
    auto j = with_promise<odd_frame, 64>();
    return j.finish() && j.frame.promise().member.in_place();
}
}  // namespace promise_64

// other: an awaiter of 64 bytes
namespace awaiter_64 {
bool run() { return with_awaiter<odd_frame, 64>().finish(); }
}  // namespace awaiter_64

// other: a local of 64 bytes in a frame that is aligned to more
namespace local_64_wide_frame {
bool run() { return with_local<wide_frame, 64>().finish(); }
}  // namespace local_64_wide_frame

// other: a parameter of 64 bytes in a frame that is aligned to more
namespace parameter_64_wide_frame {
bool run() { return with_parameter<wide_frame, 64>({}).finish(); }
}  // namespace parameter_64_wide_frame

// other: a promise of 64 bytes in a frame that is aligned to more
namespace promise_64_wide_frame {
bool run() {
    auto j = with_promise<wide_frame, 64>();
    return j.finish() && j.frame.promise().member.in_place();
}
}  // namespace promise_64_wide_frame

// other: the frame's operator new that takes an alignment is asked
namespace aligned_new_is_used {
struct asking_frame {
    static void* operator new(size_t size) { return wide_frame::operator new(size); }
    static void* operator new(size_t size, std::align_val_t a) {
        asked = static_cast<size_t>(a);
        return wide_frame::operator new(size);
    }
    static void operator delete(void* p) { wide_frame::operator delete(p); }
    static void operator delete(void* p, std::align_val_t) { wide_frame::operator delete(p); }
    static inline size_t asked = 0;
};
bool run() {
    const bool in_place = with_local<asking_frame, 64>().finish();
    return in_place && asking_frame::asked == 64;
}
}  // namespace aligned_new_is_used

// library: what needs 64 bytes lives outside of the frame
namespace kept_outside {
[[gnu::noinline]] job<odd_frame> work() {
    auto* w = new wide<64>;
    co_await std::suspend_always();
    const bool b = w->in_place();
    delete w;
    co_return b;
}
bool run() { return work().finish(); }
}  // namespace kept_outside
