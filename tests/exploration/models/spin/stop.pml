// A stop request against callbacks that come and go.
// SPDX-License-Identifier: BSL-1.0
//
// Code: include/weir/task/stop_state.hpp, and of task/stop_token.hpp what constructs and destroys a callback.
// Memory is sequentially consistent: all is under the lock, but for `requested_` and `sources_`, whose
// loads and stores are ordered by acquire and release.
//
// Callback 1 .. N belongs to the owner thread of that number, which makes and destroys it. What it does
// when it runs: nothing, or (SELF) destroys itself, or (OTHER) callback 1 destroys callback N as well.

#ifndef N
#define N 2  /* callbacks, each with a thread */
#endif
#ifndef REQUESTS
#define REQUESTS 1  /* threads that request a stop, N + 1 .. */
#endif
#ifndef SELF
#define SELF 0
#endif
#ifndef OTHER
#define OTHER 0
#endif

#define NOBODY 0

// basic_stop_state
bool requested;
byte sources = REQUESTS;
bool locked;
byte first;
byte requester = NOBODY;
// basic_stop_node, from 1; 0 is null
byte next[N + 1], previous[N + 1];
bool linked[N + 1], is_done[N + 1];
byte destroyed[N + 1];  // whose flag it points to: a thread's, or 0
// The flag `destroyed` on a requesting thread's stack.
bool gone[N + REQUESTS + 1];

// What is only looked at by assertions.
bool alive[N + 1], runs[N + 1], ran[N + 1], registered[N + 1];
bool answered;  // a request has returned true
byte claimed[N + 1];  // which thread destroys it, for it is done once

inline lock() { atomic { !locked -> locked = true } }

inline unlink(n) {
    d_step {
        if
        :: previous[n] == 0 -> first = next[n]
        :: else -> next[previous[n]] = next[n]
        fi;
#ifndef MUTANT_previous_stays
        if
        :: next[n] != 0 -> previous[next[n]] = previous[n]
        :: else
        fi;
#endif
        next[n] = 0;
        previous[n] = 0;
        linked[n] = false
    }
}

// basic_stop_state::possible()
inline possible() {
    if
    :: requested -> can = true
    :: else ->
        if
        :: sources != 0 -> can = true
#ifdef MUTANT_sources_looked_at_last
        :: else -> can = false
#else
        :: else -> can = requested
#endif
        fi
    fi
}

// basic_stop_state::add()
inline add(n) {
    lock();
    if
#ifndef MUTANT_added_after_the_request
    :: requested -> late = true
#endif
    :: else ->
        d_step {
            linked[n] = true;
            next[n] = first;
            if
            :: first != 0 -> previous[first] = n
            :: else
            fi;
            first = n
        }
    fi;
    locked = false
}

// basic_stop_state::remove(), after which the callback is gone
inline remove(n) {
    lock();
    assert(alive[n]);
    was_linked = linked[n];
    if
    :: was_linked -> unlink(n)
    :: else
    fi;
    here = requester == me;
    locked = false;
    if
    :: was_linked
    :: !was_linked && !here ->
#ifndef MUTANT_running_not_awaited
        is_done[n];
#endif
        skip
    :: !was_linked && here ->
        if
#ifndef MUTANT_destruction_unnoticed
        :: destroyed[n] != 0 -> gone[destroyed[n]] = true
#endif
        :: else
        fi
    fi;
    d_step {
        was_linked = false;
        here = false;
        assert(!runs[n]);
        alive[n] = false
    }
}

// The user's function of callback n.
inline call(n) {
    d_step {
        assert(alive[n] && !ran[n]);
        runs[n] = true;
        ran[n] = true
    };
    if
    :: SELF ->
        claim(n, true);
        if
        :: got ->
            runs[n] = false;  // nothing of it is used from here on
            remove(n)
        :: else
        fi
    :: else
    fi;
    if
    :: OTHER && n == 1 ->
        claim(N, registered[N]);
        if
        :: got -> remove(N)
        :: else
        fi
    :: else
    fi;
    d_step {
        got = false;
        runs[n] = false
    }
}

// Which thread destroys a callback is the user's affair. Others may as soon as it is constructed.
inline claim(n, allowed) {
    d_step {
        got = claimed[n] == 0 && allowed;
        claimed[n] = (got -> me : claimed[n])
    }
}

// basic_stop_state::request()
inline request() {
    lock();
    if
#ifndef MUTANT_requested_twice
    :: requested -> locked = false
#endif
    :: else ->
#ifndef MUTANT_requester_unknown
        requester = me;
#endif
        requested = true;
        do
        :: first != 0 ->
            n = first;
            assert(alive[n]);
            unlink(n);
            gone[me] = false;
            destroyed[n] = me;
#ifndef MUTANT_called_under_the_lock
            locked = false;
#endif
            call(n);
            if
            :: !gone[me] ->
                assert(alive[n]);
#ifdef MUTANT_done_too_early
                is_done[n] = true;
                assert(alive[n]);
                destroyed[n] = 0
#else
                destroyed[n] = 0;
                assert(alive[n]);
#ifndef MUTANT_done_unsaid
                is_done[n] = true
#endif
#endif
            :: else
            fi;
            n = 0;
#ifndef MUTANT_called_under_the_lock
            lock()
#endif
        :: else -> break
        od;
        locked = false;
        answered = true
    fi
}

proctype owner(byte me) {
    bool can, late, was_linked, here, before, got;
    // stop_callback::stop_callback()
    alive[me] = true;
    before = answered;
    possible();
    assert(can || !requested);  // a source that is gone has made its request before
    if
    :: can ->
        before = answered;
        add(me);
        if
        :: late ->  // it runs here, and belongs to no state
            assert(!ran[me]);
            ran[me] = true
        :: else -> registered[me] = true
        fi
    :: else
    fi;
    assert(!before || ran[me]);  // made after the request: called by now
    // stop_callback::~stop_callback()
    before = answered;
    claim(me, registered[me]);
    if
    :: got ->
        remove(me);
        assert(!before || ran[me])  // requested while it was there
    :: else
    fi
}

proctype requesting(byte me) {
    byte n;
    bool was_linked, here, got;
    request();
    sources--  // stop_source::~stop_source()
}

init {
    byte t;
    atomic {
        for (t : 1 .. N + REQUESTS) {
            if
            :: t <= N -> run owner(t)
            :: else -> run requesting(t)
            fi
        }
    }
    _nr_pr == 1;
    d_step {
        assert(first == 0 && !locked);
        for (t : 1 .. N) {
            assert(!runs[t])
        }
    }
}
