#include "reference.hpp"

#include "support/catch.hpp"
#include "support/causes.hpp"

#include <weir/executor/executor.hpp>
#include <weir/executor/timer.hpp>
#include <weir/executor/virtual_time.hpp>
#include <weir/simulation/world.hpp>

#include <algorithm>
#include <coroutine>
#include <fstream>
#include <map>
#include <sstream>

namespace faults {

void outcome::fail(const weir::pipeline_failure& e) {
    fired_before_failure = engine::here().fired();
    const hushed now;
    if (has_failed) wrong = "two failures were thrown";
    has_failed = true;
    failures.clear();
    const auto add = [this](const auto& self, const weir::pipeline_failure& all) -> void {
        for (const weir::failure& each : all.failures()) {
            try {
                std::rethrow_exception(each.error);
            } catch (const weir::pipeline_failure& of_another_run) {
                self(self, of_another_run);
            } catch (...) {
                failures.emplace_back(each.stage, id_of(each.error));
            }
        }
    };
    add(add, e);
    try {
        causes::rethrow_cause(e);
    } catch (...) {
        nested = id_of(std::current_exception());
    }
    if (failures.front().second < 0) wrong = std::string("a foreign failure: ") + e.what();
}

void outcome::throws(const std::exception_ptr& e) {
    const hushed now;
    direct.push_back(id_of(e));
    if (direct.back() >= 0) return;
    try {
        std::rethrow_exception(e);
    } catch (const std::exception& other) {
        wrong = other.what();
    } catch (...) {
        wrong = "something that is no std::exception";
    }
}

namespace {

constexpr const char* kind_names[] = {"allocation", "call", "copy"};
constexpr const char* ending_names[] = {"none", "token", "stop", "leave", "poll", "pause"};

// Where an attempt is made: on virtual time, or in a world, each with its seed.
struct place {
    bool in_world;
    std::uint64_t seed;
};
constexpr place places[] = {{false, 0}, {false, 7}, {true, 1}, {true, 2}, {true, 3}};

std::string text_of(const place& p) {
    return (p.in_world ? "world " : "virtual time ") + std::to_string(p.seed);
}

// What has to be as it was after each attempt.
struct balance {
    long blocks = (empty_frame_pool(), faults::blocks());
    int items = fragile::alive;
    int errors = injected::alive;
};

// Kept from one attempt to the next, with its memory.
sim::detail::decisions& the_decisions() {
    static sim::detail::decisions d = [] {
        sim::detail::decisions roomy;
        for (int i = 0; i < 100'000; ++i) static_cast<void>(roomy.choose(2));
        return roomy;
    }();
    return d;
}

// Notes when nothing could go on. The end of a run makes do with that, where time is virtual, and throws
// away who waits; on threads it would hang.
class watched_executor final : public weir::executor {
  public:
    explicit watched_executor(weir::executor& inner) : executor(inner.traits()), inner_(inner) {}
    void post(std::coroutine_handle<> h) noexcept override { inner_.post(h); }
    void add(weir::timer& t) noexcept override { inner_.add(t); }
    void cancel(weir::timer& t) noexcept override { inner_.cancel(t); }
    [[nodiscard]] weir::time_point now() const noexcept override { return inner_.now(); }
    bool drive(flag& done, weir::time_point limit) override {
        try {
            return inner_.drive(done, limit);
        } catch (const weir::deadlock_error&) {
            has_hung_ = true;
            throw;
        }
    }
    bool has_hung() const noexcept { return has_hung_; }

  private:
    weir::executor& inner_;
    bool has_hung_ = false;
};

struct tried {
    attempted result;
    std::string broken;
    bool has_fired_end = true;  // the step at which it was to end has come
};

tried try_at(const reference& r, const place& p, conditions c) {
    tried t;
    if (p.in_world) {
        sim::detail::decisions& made = the_decisions();
        made.be_random();
        made.begin(p.seed);
        sim::world world(made, 50'000);
        watched_executor watched(world);
        calm_executor home(watched);
        c.home = &home;
        c.world = &world;
        t.result = r.attempt(c);
        t.has_fired_end = c.step < world.steps();
        t.broken = world.broken().empty() ? world.left_behind() : world.broken();
        if (t.broken.empty() && watched.has_hung()) t.broken = "the run would hang";
    } else {
        weir::virtual_time clock(p.seed);
        watched_executor watched(clock);
        calm_executor home(watched);
        c.home = &home;
        t.result = r.attempt(c);
        if (watched.has_hung()) t.broken = "the run would hang";
    }
    return t;
}

// Whether nothing but what may come out did, and how many of that did not.
bool is_part_of(std::vector<int> got, std::vector<int> all, std::size_t& missing) {
    std::sort(got.begin(), got.end());
    std::sort(all.begin(), all.end());
    missing = all.size() - std::min(got.size(), all.size());
    return std::includes(all.begin(), all.end(), got.begin(), got.end());
}

class judge {
  public:
    judge(const reference& r, const place& p) : reference_(r), place_(p) {
        engine::here().plan({});
        describe_trial(r.name + " without a fault");
        for (int warm = 0; warm < 2; ++warm) static_cast<void>(try_at(r, p, {}));
        tried plain = try_at(r, p, {});
        expected_ = plain.result.first.got;
        INFO(r.name << " on " << text_of(p) << ": " << plain.result.first.wrong);
        REQUIRE(plain.result.first.wrong.empty());
        REQUIRE(plain.broken.empty());
        REQUIRE_FALSE(plain.result.first.has_failed);
        REQUIRE(expected_.size() >= r.least);
    }

    // One attempt with the faults. False: not all of them have come.
    bool attempt(const std::vector<fault>& faults) {
        std::string title = reference_.name + " on " + text_of(place_) + ":";
        for (const fault& f : faults) {
            title += std::string(" ") + kind_names[static_cast<int>(f.what)] + " " + std::to_string(f.after);
        }
        describe_trial(title);
        const balance before;
        engine::here().plan(faults);
        int fired = 0;
        std::string wrong;
        {
            tried t = try_at(reference_, place_, {});
            fired = engine::here().fired();
            engine::here().plan({});
            wrong = what_is_wrong(t, fired);
        }
        if (wrong.empty()) wrong = imbalance(before);
        if (!wrong.empty()) complain(title, wrong);
        return fired == static_cast<int>(faults.size());
    }

    // One with a stop. False: the run had ended before.
    bool attempt(ending how, std::size_t step) {
        const std::string title = reference_.name + " on " + text_of(place_) + ": " +
                                  ending_names[static_cast<int>(how)] + " at step " + std::to_string(step);
        describe_trial(title);
        const balance before;
        std::string wrong;
        bool has_come = false;
        {
            conditions c;
            c.end = how;
            c.step = step;
            c.again = false;
            tried t = try_at(reference_, place_, c);
            has_come = t.has_fired_end;
            const outcome& o = t.result.first;
            std::size_t missing = 0;
            wrong = !t.broken.empty()                        ? t.broken
                    : !o.wrong.empty()                       ? o.wrong
                    : o.has_failed                           ? "a stop is no failure"
                    : !o.direct.empty()                      ? "something was thrown"
                    : !is_part_of(o.got, expected_, missing) ? "an item came that was none, or twice"
                    : how == ending::pause && missing != 0   ? "a pause has lost an item"
                                                             : "";
            most_missing_ = std::max(most_missing_, missing);
        }
        if (wrong.empty()) wrong = imbalance(before);
        if (!wrong.empty()) complain(title, wrong);
        return has_come;
    }

    // Of all attempts with a stop: the earliest ones leave most of the items unmade.
    void expect_cut_short(ending how) {
        if (most_missing_ == 0) {
            complain(reference_.name + " on " + text_of(place_) + ": " + ending_names[static_cast<int>(how)],
                     "whenever it comes, all items are made");
        }
    }

  private:
    std::string what_is_wrong(const tried& t, int fired) const {
        const outcome& o = t.result.first;
        if (!t.broken.empty()) return t.broken;
        if (!o.wrong.empty()) return o.wrong;
        std::size_t missing = 0;
        if (!is_part_of(o.got, expected_, missing)) return "an item came that was none, or twice";
        if (t.result.again) {
            const outcome& again = *t.result.again;
            if (!again.wrong.empty()) return "the run after it: " + again.wrong;
            if (again.has_failed || !again.direct.empty()) return "the run after it failed";
            if (!is_part_of(again.got, expected_, missing) || missing != 0) {
                return "the run after it gave something else";
            }
            is_part_of(o.got, expected_, missing);
        }
        if (fired == 0) {
            if (o.has_failed || !o.direct.empty()) return "it failed without a fault";
            return missing == 0 ? "" : "items are missing, and nothing went wrong";
        }
        return what_is_wrong_with(o, fired, missing);
    }

    // There was a fault, or two: each is told, the first one first.
    std::string what_is_wrong_with(const outcome& o, int fired, std::size_t missing) const {
        for (std::size_t i = 0; i < o.failures.size(); ++i) {
            if (o.failures[i].second < 0) return "a failure that was none is attached";
            const bool is_ordered = reference_.wrapped_by.empty() && !reference_.ends_later;
            if (i > 0 && is_ordered && o.failures[i].second <= o.failures[i - 1].second) {
                return "a failure is told twice, or too soon";
            }
        }
        if (o.has_failed && o.nested != o.failures.front().second)
            return "another error is nested than is reported";
        // The second may stop the outer run before it has heard of the first.
        const bool is_of_two_runs = fired == 2 && !reference_.wrapped_by.empty();
        if (is_of_two_runs && (o.has_failed || !o.direct.empty())) return "";
        for (int id = 0; id < fired; ++id) {
            const site& at = engine::here().where(id);
            const bool in_memory = kinds_[static_cast<std::size_t>(id)] == kind::allocation;
            const auto told = std::find_if(o.failures.begin(), o.failures.end(),
                                           [id](const auto& f) { return f.second == id; });
            const bool was_thrown = std::find(o.direct.begin(), o.direct.end(), id) != o.direct.end();
            if (told != o.failures.end()) {
                if (was_thrown) return "one error is told twice";
                // One that is told of in vain is a failure, too: `on_failure` threw.
                const bool is_told_with_it = id == 0 && fired == 2 && !engine::here().where(1).is_forgiven;
                if (at.is_forgiven && !is_told_with_it)
                    return "a failure that is tolerated has stopped the run";
                // Without memory there may be none for the name either.
                const bool is_nameless = told->first.empty() && (in_memory || fired == 2);
                if (!in_memory && *at.stage != '\0' && told->first != at.stage && !is_nameless &&
                    (reference_.wrapped_by.empty() || told->first != reference_.wrapped_by)) {
                    return "stage '" + told->first + "' is blamed for '" + at.stage + "'";
                }
                continue;
            }
            if (was_thrown) continue;
            if (at.is_forgiven || (in_memory && reference_.forgives_allocations)) continue;
            if (id == 1 && (at.is_second || in_memory)) continue;
            // What happens after the failure was thrown is too late for it.
            if (id == 1 && (!o.started || o.fired_before_failure < 2)) continue;
            return "fault " + std::to_string(id) + " at '" + at.stage + "' was swallowed";
        }
        if (!o.has_failed && o.direct.empty() && missing > 3)
            return "items are missing, and no error is told";
        return "";
    }

    static std::string imbalance(const balance& before) {
        const balance after;
        if (after.errors != before.errors)
            return std::to_string(after.errors - before.errors) + " exceptions leaked";
        if (after.items != before.items) return std::to_string(after.items - before.items) + " items leaked";
        if (after.blocks != before.blocks)
            return std::to_string(after.blocks - before.blocks) + " blocks leaked";
        return {};
    }

    void complain(const std::string& title, const std::string& wrong) {
        if (++complaints_ <= 10) FAIL_CHECK(title << ": " << wrong);
        if (complaints_ == 11) FAIL("more than 10 points are wrong");
    }

  public:
    void expect_kinds(std::vector<kind> k) { kinds_ = std::move(k); }

  private:
    const reference& reference_;
    const place place_;
    std::vector<int> expected_;
    std::size_t most_missing_ = 0;
    std::vector<kind> kinds_;
    int complaints_ = 0;
};

// What is on record: of each pipeline and kind, how many points there are.
const std::map<std::string, std::size_t>& the_record() {
    static const std::map<std::string, std::size_t> all = [] {
        std::map<std::string, std::size_t> read;
        std::ifstream file(WEIR_FAULTS_RECORD);
        std::string line;
        while (std::getline(file, line)) {
            if (line.empty() || line.front() == '#') continue;
            std::istringstream fields(line);
            std::string name, what;
            std::size_t points = 0;
            fields >> name >> what >> points;
            read[name + '\t' + what] = points;
        }
        return read;
    }();
    return all;
}

// Some fewer are no difference: another standard library allocates elsewhere, and clang has some frames of
// coroutines in their callers' (a sixth fewer at most with clang 16 at -O1, a quarter with libc++).
void compare(const std::string& name, const std::string& what, std::size_t points) {
    if (const char* const path = std::getenv("WEIR_FAULTS_WRITE")) {
        std::ofstream(path, std::ios::app) << name << '\t' << what << '\t' << points << '\n';
        return;
    }
    const auto found = the_record().find(name + '\t' + what);
    INFO(name << ", " << what << ": " << points << " points");
    REQUIRE(found != the_record().end());
    CHECK(points * 10 >= found->second * 7);
}

}  // namespace

std::size_t points_on_record() {
    std::size_t sum = 0;
    for (const auto& each : the_record()) sum += each.second;
    return sum;
}

void explore_faults(const reference& r) {
    std::size_t single[kinds] = {};
    std::size_t pairs = 0;
    for (const place& p : places) {
        judge j(r, p);
        std::size_t calls = 0;
        for (const kind k : {kind::allocation, kind::call, kind::copy}) {
            j.expect_kinds({k, k});
            std::size_t n = 0;
            while (j.attempt({fault{k, n}})) ++n;
            single[static_cast<int>(k)] += n;
            if (k == kind::call) calls = n;
        }
        // Each call with each of the faults that follow it at once, where it is most delicate.
        for (const kind second : {kind::call, kind::allocation}) {
            j.expect_kinds({kind::call, second});
            const std::size_t next = second == kind::call ? 4 : 6;
            for (std::size_t n = 0; n < calls; ++n) {
                bool has_second = true;
                for (std::size_t m = 0; m < next && has_second; ++m) {
                    has_second = j.attempt({fault{kind::call, n}, fault{second, m}});
                    if (has_second) ++pairs;
                }
            }
        }
    }
    for (const kind k : {kind::allocation, kind::call, kind::copy}) {
        compare(r.name, kind_names[static_cast<int>(k)], single[static_cast<int>(k)]);
    }
    compare(r.name, "pair", pairs);
}

void explore_stops(const reference& r) {
    for (const ending how : {ending::token, ending::stop, ending::leave, ending::poll, ending::pause}) {
        std::size_t points = 0;
        for (const place& p : places) {
            if (!p.in_world) continue;
            judge j(r, p);
            std::size_t step = 0;
            while (j.attempt(how, step)) ++step;
            points += step;
            if (how == ending::token || how == ending::stop) j.expect_cut_short(how);
        }
        compare(r.name, ending_names[static_cast<int>(how)], points);
    }
}

}  // namespace faults
