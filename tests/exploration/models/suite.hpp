// How a model is written and run: see tests/exploration/models/run.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_MODELS_SUITE_HPP
#define WEIR_TESTS_MODELS_SUITE_HPP

#include "platform.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace models {

// A plain variable; that two threads use it without an order between them is found.
template <class T>
class plain {
  public:
    plain(T value = {}) : value_(value) {}
    T get(std::source_location w = std::source_location::current()) const {
        return const_cast<rl::var<T>&>(value_)(w);
    }
    void set(T value, std::source_location w = std::source_location::current()) { value_(w) = value; }

  private:
    rl::var<T> value_;
};

inline void expect(bool holds, const char* what, std::source_location w = std::source_location::current()) {
    if (!holds) rl::ctx().fail_test(what, rl::test_result_user_assert_failed, w);
}

// An execution: the members are made, `before` runs as any thread that `there.plays`, `run(i)` are the
// threads, then `after`. A deadlock, a leak, a data race, and what `expect` finds are failures.
template <class Derived, int Threads>
struct suite : rl::test_suite<Derived, Threads> {
    world there;
    void thread(unsigned i) {
        static_assert(Derived::params::thread_count <= most_threads);
        static_cast<Derived*>(this)->run(static_cast<int>(i));
        there.thread_ends();
    }
};

// A value whose memory is watched: it is written when one begins or ends there, and when it is moved
// from; so a place that is used again before its last user is known to be out of it is a data race.
class item {
  public:
    item(int value) : value_(value) { write(); }
    item(item&& other) noexcept : value_(other.value_) {
        expect(value_ != gone, "an item is moved from twice");
        write();
        other.write();
        other.value_ = gone;
    }
    item& operator=(item&&) = delete;
    ~item() { write(); }

    int value() const {
        memory::here().at(this).get();
        return value_;
    }
    bool is_gone() const { return value_ == gone; }

  private:
    static constexpr int gone = -1;

    class memory {
      public:
        static memory& here() { return platform::of_process<memory>(); }
        plain<int>& at(const void* where) {
            for (auto& c : cells_) {
                if (c.first == where) return *c.second;
            }
            cells_.emplace_back(where, std::make_unique<plain<int>>());
            return *cells_.back().second;
        }

      private:
        std::vector<std::pair<const void*, std::unique_ptr<plain<int>>>> cells_;
    };

    void write() { memory::here().at(this).set(1); }

    int value_;
};

struct model {
    const char* name;
    unsigned long times;  // 0: every order, within the switches
    unsigned switches;
    rl::test_result_e (*run)(rl::test_params&);
};

template <class Suite, template <rl::thread_id_t> class Scheduler>
rl::test_result_e run_with(rl::test_params& how) {
    rl::ostringstream where;
    const rl::test_result_e found =
        rl::run_test<Suite, Scheduler<Suite::params::thread_count>>(how, where, how.collect_history);
    how.final_state = where.str();
    return found;
}

// The order of the steps is drawn at random, so many times.
template <class Suite>
model check(const char* name, unsigned long times) {
    return {name, times, 0, &run_with<Suite, rl::random_scheduler>};
}

// Each order is tried in which threads lose their turn at most so often.
template <class Suite>
model check_every_order(const char* name, unsigned switches) {
    return {name, 0, switches, &run_with<Suite, rl::context_bound_scheduler>};
}

// The failing execution once more, now with its history.
inline void show_steps(const model& m, rl::test_params how) {
    how.initial_state = how.final_state;
    how.collect_history = true;
    how.test_name = m.name;
    m.run(how);
}

inline std::memory_order order_named(std::string_view name) {
    return name == "relaxed"   ? std::memory_order_relaxed
           : name == "acquire" ? std::memory_order_acquire
           : name == "release" ? std::memory_order_release
           : name == "acq_rel" ? std::memory_order_acq_rel
                               : std::memory_order_seq_cst;
}

// For each model a line: name, executions, milliseconds, and what was found, or "ok".
inline int run_all(int argc, char** argv, const std::vector<model>& models) {
    unsigned long times = 0;
    std::string_view only;
    bool quiet = false;
    for (int i = 1; i < argc; ++i) {
        const std::string_view option = argv[i];
        if (option == "--iterations" && i + 1 < argc) {
            times = std::strtoul(argv[++i], nullptr, 10);
        } else if (option == "--only" && i + 1 < argc) {
            only = argv[++i];
        } else if (option == "--weaken" && i + 5 < argc) {  // FILE LINE LINE FROM TO
            weakening& w = weakening::asked_for();
            w.file = argv[++i];
            w.first_line = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
            w.last_line = static_cast<unsigned>(std::strtoul(argv[++i], nullptr, 10));
            w.from = order_named(argv[++i]);
            w.to = order_named(argv[++i]);
        } else if (option == "--quiet") {
            quiet = true;
        } else {
            std::fprintf(stderr, "%s: unknown option %s\n", argv[0], argv[i]);
            return 2;
        }
    }
    std::ostream nowhere(nullptr);
    for (const model& m : models) {
        if (!only.empty() && only != m.name) continue;
        rl::test_params how;
        how.progress_stream = &nowhere;
        how.output_stream = quiet ? &nowhere : &std::cerr;
        how.execution_depth_limit = 20'000;
        if (m.times != 0) {
            how.search_type = rl::sched_random;
            how.iteration_count = times != 0 ? times : m.times;
        } else {
            how.search_type = rl::sched_bound;
            how.context_bound = m.switches;
        }
        const auto begin = std::chrono::steady_clock::now();
        const rl::test_result_e found = m.run(how);
        const bool holds = found == rl::test_result_success;
        const auto took = std::chrono::steady_clock::now() - begin;
        std::printf("%s\t%llu\t%lld\t%s\n", m.name, static_cast<unsigned long long>(how.stop_iteration),
                    static_cast<long long>(
                        std::chrono::duration_cast<std::chrono::milliseconds>(took).count()),
                    holds ? "ok" : rl::test_result_str(found));
        std::fflush(stdout);
        if (holds) continue;
        if (!quiet) show_steps(m, how);
        return 1;
    }
    const weakening& w = weakening::asked_for();
    return w.file.empty() || w.was_met ? 0 : 3;
}

}  // namespace models

#endif
