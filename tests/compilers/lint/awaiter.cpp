// Awaiters.
#include "coroutine.hpp"

struct opening {  // expect: awaiter
    std::string path;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) {}
    int await_resume() { return 3; }
};

template <class T>
struct held {  // expect: awaiter
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) {}
    T await_resume() { return std::move(value); }
    T value;
};

struct owning {  // expect: awaiter
    std::unique_ptr<int> p = nullptr;
    bool await_ready() const;
    bool await_suspend(std::coroutine_handle<>);
    int await_resume();
};

struct of_numbers {
    int* place;
    std::size_t count = 0;
    std::coroutine_handle<> waiting = {};
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> h) { waiting = h; }
    int await_resume() { return *place; }
};

struct empty {
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) {}
    void await_resume() {}
};

class with_constructor {
 public:
    explicit with_constructor(std::string path) : path_(std::move(path)) {}
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) {}
    int await_resume() { return 3; }

 private:
    std::string path_;
};

struct open_with_constructor {
    open_with_constructor(const open_with_constructor&) = delete;
    explicit open_with_constructor(std::string p);
    std::string path;
    bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<>) {}
    void await_resume() {}
};

struct not_an_awaiter {
    std::string path;
    bool ready() const { return other.await_ready(); }
};

task<> uses(std::string path, int n) {
    co_await opening{path};  // expect: awaiter
    const int m = co_await held<std::string>{path};  // expect: awaiter
    co_await ns::unknown{path};  // expect: awaiter
    co_await of_numbers{&n};
    co_await empty{};
    co_await with_constructor{path};
    co_await with_constructor(path);
    co_await open_with_constructor{path};
    opening named{path};
    co_await named;
}
