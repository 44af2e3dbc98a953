// A pipeline that is tried at each of its points: built, started, consumed and destroyed, with a fault, or a
// stop, at one of them.
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_TESTS_FAULTS_REFERENCE_HPP
#define WEIR_TESTS_FAULTS_REFERENCE_HPP

#include "support.hpp"

#include <weir/executor/executor.hpp>
#include <weir/measure/policy.hpp>
#include <weir/platform/parking.hpp>
#include <weir/run/failure.hpp>
#include <weir/run/run_control.hpp>
#include <weir/run/stage_options.hpp>
#include <weir/simulation/world.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/task/stop_token.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace faults {

namespace sim = weir::simulation;

/// Every operation on a channel is a step, and everything is measured.
struct stepwise : weir::measured {
    static constexpr bool every_operation_ends_a_turn = true;
};

enum class ending : unsigned char {
    by_itself,
    token,  ///< the stop token asks
    stop,   ///< run::stop, while the consumer waits or not
    leave,  ///< the consumer leaves its loop and destroys the run
    poll,   ///< the consumer only looks whether there is something, and destroys the run
    pause,  ///< run::pause; and run::resume some steps later
};

/// Of one attempt.
struct conditions {
    weir::executor* home = nullptr;
    sim::world* world = nullptr;  ///< where `end` is at a step of it
    ending end = ending::by_itself;
    std::size_t step = 0;
    bool again = true;  ///< a second run of the same pipeline object, without a fault
};

/// What came of one run.
struct outcome {
    std::vector<int> got;
    bool started = false;
    bool has_failed = false;                            ///< a pipeline_failure was thrown
    int fired_before_failure = 0;                       ///< faults until it was
    std::vector<std::pair<std::string, int>> failures;  ///< of it: the stage, and `id_of`
    int nested = -1;                                    ///< `id_of` the exception nested in it
    std::vector<int> direct;                            ///< `id_of` what else was thrown
    std::string wrong;                                  ///< what must not be

    void take(int n) {
        const hushed now;
        got.push_back(n);
    }
    void fail(const weir::pipeline_failure& e);
    void throws(const std::exception_ptr& e);
};

struct attempted {
    outcome first;
    std::optional<outcome> again;
};

/// A pipeline under test, whatever its types.
struct reference {
    std::string name;
    std::function<attempted(const conditions&)> attempt;
    /// Memory that a function lacks may be made up for: it is called again, or its failure tolerated.
    bool forgives_allocations = false;
    std::string wrapped_by = {};  ///< the stage in which another run is, for whose failures it is blamed
    /// An invocation that threw is not over yet (its alarm is to be called off first): another one, of
    /// which that is not so, may be reported before it.
    bool ends_later = false;
    std::size_t least = 1;  ///< how many items come out if nothing goes wrong
};

/// Fails the test case if something is wrong at a point, or if there are fewer points than are on record.
void explore_faults(const reference& r);
void explore_stops(const reference& r);

/// Of all pipelines and kinds: each of the two above holds its pipeline to at least nine tenths of it.
std::size_t points_on_record();

// ---- how a consumer consumes -----------------------------------------------------------------

template <class T>
int number_of(const T& value) {
    if constexpr (requires { value.value(); }) {
        return value.value();
    } else if constexpr (requires { std::tuple_size<T>::value; }) {
        return std::apply([](const auto&... each) { return (number_of(each) + ...); }, value);
    } else {
        return static_cast<int>(value);
    }
}

// What came, item by item where it is a batch.
template <class T>
void take(outcome& o, const T& value) {
    if constexpr (requires { value.begin(); }) {
        for (const auto& each : value) o.take(number_of(each));
    } else {
        o.take(number_of(value));
    }
}

struct by_get {
    template <class Run>
    void operator()(Run& run, outcome& o, weir::executor&) const {
        while (auto each = run.get()) take(o, *each);
    }
};

// A run that ends with a for_each, to whose function all items go: it gives them to `acted_on`.
template <class Run>
inline constexpr bool acts_itself = false;
template <class Policy>
inline constexpr bool acts_itself<weir::run<void, Policy>> = true;

inline thread_local outcome* acting = nullptr;
inline void acted_on(int n) {
    if (acting != nullptr) acting->take(n);
}
class acting_for {
  public:
    explicit acting_for(outcome& o) noexcept { acting = &o; }
    acting_for(const acting_for&) = delete;
    acting_for& operator=(const acting_for&) = delete;
    ~acting_for() { acting = nullptr; }
};

struct by_wait {
    template <class Run>
    void operator()(Run& run, outcome& o, weir::executor&) const {
        if (run.wait().items != o.got.size()) o.wrong = "the run counts other items than were acted on";
    }
};

struct by_loop {
    template <class Run>
    void operator()(Run& run, outcome& o, weir::executor&) const {
        for (const auto& each : run) take(o, each);
    }
};

// ---- one attempt ------------------------------------------------------------------------------

// To the end. `false`: something was left.
template <class Run>
bool take_rest(Run& run, outcome& o) {
    bool nothing = true;
    if constexpr (acts_itself<Run>) {
        static_cast<void>(run.wait());
    } else {
        while (auto each = run.get()) {
            take(o, *each);
            nothing = false;
        }
    }
    return nothing;
}

// Until `is_time`, or its end. `looks`: it doesn't wait for an item.
template <class Run>
void take_until(const bool& is_time, Run& run, outcome& o, const conditions& c, bool looks) {
    if constexpr (acts_itself<Run>) {
        weir::detail::parker never;
        while (!is_time && !run.ended()) c.home->drive(never, c.home->now() + std::chrono::nanoseconds(10));
    } else if (looks) {
        while (!is_time) {
            auto each = run.get(std::chrono::nanoseconds(c.world->steps() == 0 ? 0 : 10));
            if (each.status() == weir::channel_status::closed) break;
            if (each) take(o, *each);
        }
    } else {
        while (!is_time) {
            auto each = run.get();
            if (!each) break;
            take(o, *each);
        }
    }
}

// With nothing to do before it is resumed, the time of one that is paused would never come.
template <class Run>
void take_and_resume(Run& run, outcome& o, const conditions& c) {
    if constexpr (acts_itself<Run>) {
        weir::detail::parker never;
        while (!run.ended()) {
            c.home->drive(never, c.home->now() + std::chrono::hours(1));
            run.resume();
        }
    } else {
        bool ended = false;
        while (!ended) {
            auto each = run.get(std::chrono::hours(1));
            ended = each.status() == weir::channel_status::closed;
            if (each) take(o, *each);
            if (each.status() == weir::channel_status::timed_out) run.resume();
        }
    }
}

template <class Pipeline, class Configure, class Consume>
void run_once(const Pipeline& p, const conditions& c, const Configure& configure, const Consume& consume,
              outcome& o) {
    try {
        weir::stop_source stopper;
        weir::run_options options;
        configure(options);
        if (c.end == ending::token) options.stop = stopper.get_token();
        bool is_time = false;
        bool is_over = false;
        const acting_for here(o);
        auto run = p.template start<stepwise>(*c.home, std::move(options));
        o.started = true;
        // Its destructor makes steps, too, when it is no time for anything any more.
        struct end_of_attempt {
            bool& is_over;
            ~end_of_attempt() { is_over = true; }
        } const end{is_over};
        if (c.end != ending::by_itself) {
            const std::size_t at = c.world->steps() + c.step;
            c.world->at_step(at, [&] {
                if (is_over) return;
                is_time = true;
                if (c.end == ending::token) stopper.request_stop();
                if (c.end == ending::stop) run.stop();
                if (c.end == ending::pause) run.pause();
            });
            if (c.end == ending::pause) {
                c.world->at_step(at + 7, [&] {
                    if (!is_over) run.resume();
                });
            }
        }
        try {
            if (c.end == ending::leave || c.end == ending::poll) {
                return take_until(is_time, run, o, c, c.end == ending::poll);
            }
            c.end == ending::pause ? take_and_resume(run, o, c) : consume(run, o, *c.home);
        } catch (const weir::pipeline_failure& e) {
            o.fail(e);
        } catch (...) {
            // The consumer's own: the run goes on, and nothing of it is lost.
            o.throws(std::current_exception());
            const hushed now;
            take_rest(run, o);
        }
        static_cast<void>(run.stats());
        const std::size_t got = o.got.size();
        if (!take_rest(run, o) || o.got.size() != got) o.wrong = "the end is not the end";  // told once
    } catch (const weir::pipeline_failure& e) {
        o.fail(e);
    } catch (...) {
        o.throws(std::current_exception());
    }
}

template <class Describe, class Configure, class Consume>
attempted attempt(const conditions& c, const Describe& describe, const Configure& configure,
                  const Consume& consume) {
    attempted result;
    std::optional<decltype(describe())> p;
    {
        const armed now;
        try {
            p.emplace(describe());
        } catch (...) {
            result.first.throws(std::current_exception());
        }
        if (p) run_once(*p, c, configure, consume, result.first);
    }
    if (p && c.again) {
        conditions plain;
        plain.home = c.home;
        run_once(*p, plain, configure, consume, result.again.emplace());
    }
    return result;
}

/// \param describe   makes the pipeline. \param configure  fills in the options of a run.
/// \param consume    takes the items: `by_get`, or one of its own.
template <class Describe, class Configure, class Consume>
reference make_reference(std::string name, Describe describe, Configure configure, Consume consume) {
    reference r;
    r.name = std::move(name);
    r.attempt = [describe, configure, consume](const conditions& c) {
        return attempt(c, describe, configure, consume);
    };
    return r;
}

inline constexpr auto no_options = [](weir::run_options&) {};

}  // namespace faults

#endif
