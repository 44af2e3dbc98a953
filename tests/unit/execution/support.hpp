// What the tests of senders share: a receiver that notes, senders that complete as told, a thread that is a context.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_EXECUTION_SUPPORT_HPP
#define WEIR_TESTS_EXECUTION_SUPPORT_HPP

#include <weir/execution/scheduler.hpp>
#include <weir/executor/executor.hpp>
#include <weir/platform/env.hpp>
#include <weir/platform/parking.hpp>
#include <weir/task/stop_token.hpp>

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>

namespace senders {

namespace lib = weir::execution::lib;

// How an operation ended, and on which executor of ours.
template <class T>
class outcome {
  public:
    std::optional<T> value;
    std::exception_ptr error;
    bool stopped = false;
    weir::executor* where = nullptr;
    weir::stop_source stop;

    void set() {
        where = weir::detail::current_executor();
        done_.set();
    }
    void wait() {
        while (!done_.wait()) {
        }
    }
    bool is_set() const { return done_.is_set(); }
    std::string what() const {
        try {
            if (error) std::rethrow_exception(error);
        } catch (const std::exception& e) {
            return e.what();
        }
        return "";
    }

  private:
    weir::detail::parker done_;
};

template <class T>
class noting {
    class env {
      public:
        explicit env(weir::stop_token stop) : stop_(std::move(stop)) {}
        weir::stop_token query(lib::get_stop_token_t) const noexcept { return stop_; }

      private:
        weir::stop_token stop_;
    };

  public:
    using receiver_concept = lib::receiver_t;
    explicit noting(outcome<T>& to) noexcept : to_(&to) {}

    template <class... Ts>
    void set_value(Ts&&... values) noexcept {
        to_->value.emplace(std::forward<Ts>(values)...);
        to_->set();
    }
    void set_error(std::exception_ptr e) noexcept {
        to_->error = std::move(e);
        to_->set();
    }
    void set_stopped() noexcept {
        to_->stopped = true;
        to_->set();
    }
    env get_env() const noexcept { return env(to_->stop.get_token()); }

  private:
    outcome<T>* to_;
};

// A thread that is a context of its own, and knows nothing of us.
class context {
  public:
    context() : thread_([this] { run(); }) {}
    context(const context&) = delete;
    context& operator=(const context&) = delete;
    ~context() {
        call({});
        thread_.join();
    }
    void call(std::function<void()> f) {
        const std::lock_guard guard(lock_);
        calls_.push_back(std::move(f));
        some_.notify_one();
    }
    std::thread::id id() const { return thread_.get_id(); }

    template <class Receiver>
    class arriving {
      public:
        using operation_state_concept = lib::operation_state_t;
        arriving(context& on, Receiver to) : on_(&on), to_(std::move(to)) {}
        arriving(const arriving&) = delete;
        void start() noexcept {
            on_->call([this] { lib::set_value(std::move(to_)); });
        }

      private:
        context* on_;
        Receiver to_;
    };

    class scheduler {
      public:
        class arrival {
          public:
            using sender_concept = lib::sender_t;
            using completion_signatures = lib::completion_signatures<lib::set_value_t()>;
            explicit arrival(context& on) noexcept : on_(&on) {}
            template <class Receiver>
            auto connect(Receiver to) const {
                return arriving<Receiver>(*on_, std::move(to));
            }
            class env {
              public:
                explicit env(context& on) noexcept : on_(&on) {}
                template <class... Env>
                scheduler query(lib::get_completion_scheduler_t<lib::set_value_t>,
                                const Env&...) const noexcept {
                    return scheduler(*on_);
                }

              private:
                context* on_;
            };
            env get_env() const noexcept { return env(*on_); }

          private:
            context* on_;
        };
        using scheduler_concept = lib::scheduler_t;
        explicit scheduler(context& on) noexcept : on_(&on) {}
        arrival schedule() const noexcept { return arrival(*on_); }
        bool operator==(const scheduler&) const = default;

      private:
        context* on_;
    };

  private:
    void run() {
        while (true) {
            std::unique_lock lock(lock_);
            some_.wait(lock, [this] { return !calls_.empty(); });
            const std::function<void()> f = std::move(calls_.front());
            calls_.pop_front();
            lock.unlock();
            if (!f) return;
            f();
        }
    }

    std::mutex lock_;
    std::condition_variable some_;
    std::deque<std::function<void()>> calls_;
    std::thread thread_;
};

// Completes by `How`, called with the receiver when it is started: `void(auto&& receiver)`.
template <class Signatures, class How>
class completes {
    template <class Receiver>
    class operation {
      public:
        using operation_state_concept = lib::operation_state_t;
        operation(How how, Receiver to) : how_(std::move(how)), to_(std::move(to)) {}
        operation(const operation&) = delete;
        void start() noexcept { how_(to_); }

      private:
        How how_;
        Receiver to_;
    };

  public:
    using sender_concept = lib::sender_t;
    using completion_signatures = Signatures;
    explicit completes(How how) : how_(std::move(how)) {}
    template <class Receiver>
    auto connect(Receiver to) const {
        return operation<Receiver>(how_, std::move(to));
    }

  private:
    How how_;
};

template <class... Signatures, class How>
auto completes_by(How how) {
    return completes<lib::completion_signatures<Signatures...>, How>(std::move(how));
}

}  // namespace senders

#endif
