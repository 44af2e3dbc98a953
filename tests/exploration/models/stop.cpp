// Stop source, tokens, callbacks: each callback runs at most once, never after its object is gone; what was
// done before the request is seen by who learns of it.
// SPDX-License-Identifier: BSL-1.0
#include <weir/task/stop_token.hpp>

#include "suite.hpp"

#include <optional>

namespace {

using namespace models;
using stop_source = weir::basic_stop_source<platform>;
using stop_token = weir::basic_stop_token<platform>;

// What a callback uses, and what is gone with it.
struct called {
    plain<int>* times;
    plain<int>* cause;
    void operator()() const noexcept {
        expect(cause->get() == 1, "the callback ran before what the request tells of");
        times->set(times->get() + 1);
    }
};
using callback = weir::stop_callback<called, platform>;

// One thread registers and leaves, one requests.
struct leaving : suite<leaving, 2> {
    stop_source source;
    plain<int> cause{0};

    void run(int me) {
        if (me == 0) {
            plain<int> times{0};
            {
                callback on_stop(source.get_token(), called{&times, &cause});
                platform::yield();
            }
            const int ran = times.get();
            expect(ran == 0 || ran == 1, "a callback ran twice");
            if (ran == 0 && source.stop_requested()) expect(cause.get() == 1, "it was seen too early");
        } else {
            cause.set(1);
            source.request_stop();
        }
    }
};

// Two register, a third requests; a callback that stays runs.
struct staying : suite<staying, 3> {
    stop_source source;
    plain<int> cause{0};
    plain<int> times[2];
    std::optional<callback> kept[2];

    void run(int me) {
        if (me == 2) {
            cause.set(1);
            expect(source.request_stop(), "it was requested before");
            return;
        }
        kept[me].emplace(source.get_token(), called{&times[me], &cause});
    }
    void after() {
        for (int i = 0; i < 2; ++i) expect(times[i].get() == 1, "a callback did not run once");
    }
};

// Two request at once; one of them does it.
struct twice : suite<twice, 2> {
    stop_source source;
    plain<int> cause{1};
    plain<int> times{0};
    std::optional<callback> kept;
    int made = 0;

    void before() { kept.emplace(source.get_token(), called{&times, &cause}); }
    void run(int) { made += source.request_stop() ? 1 : 0; }
    void after() {
        expect(made == 1, "both, or none, made the request");
        expect(times.get() == 1, "the callback did not run once");
    }
};

// A token tells, without a callback.
struct telling : suite<telling, 2> {
    stop_source source;
    plain<int> cause{0};

    void run(int me) {
        if (me == 0) {
            const stop_token token = source.get_token();
            if (token.stop_requested()) expect(cause.get() == 1, "it was seen too early");
        } else {
            cause.set(1);
            source.request_stop();
        }
    }
};

// The last source goes after its request: who sees that none is left sees the request.
struct last_source : suite<last_source, 2> {
    std::optional<stop_source> source;
    stop_token token;

    void before() {
        source.emplace();
        token = source->get_token();
    }
    void run(int me) {
        if (me == 0) {
            source->request_stop();
            source.reset();
        } else {
            expect(token.stop_possible(), "a request was made, and is not seen");
        }
    }
};

// The last owner, whoever it is, frees the state and has seen what the others did to it.
struct last_owner : suite<last_owner, 3> {
    std::optional<stop_source> source;
    stop_token tokens[2];

    void before() {
        source.emplace();
        for (auto& t : tokens) t = source->get_token();
    }
    void run(int me) {
        if (me == 2) {
            source->request_stop();
            source.reset();
        } else {
            const stop_token mine = std::move(tokens[me]);
            static_cast<void>(mine.stop_requested());
        }
    }
};

}  // namespace

int main(int argc, char** argv) {
    return run_all(argc, argv,
                   {
                       check<leaving>("stop_state/a callback leaves", 300'000),
                       check<staying>("stop_state/callbacks stay", 200'000),
                       check<twice>("stop_state/two requests", 200'000),
                       check<telling>("stop_state/a token tells", 300'000),
                       check<last_source>("stop_state/the last source", 300'000),
                       check<last_owner>("stop_state/the last owner", 200'000),
                   });
}
