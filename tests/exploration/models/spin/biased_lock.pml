// The lock of include/weir/platform/biased_lock.hpp: a reservation, whose owner needs no fence.
// SPDX-License-Identifier: BSL-1.0
//
// The light fence is none for the processor, only the order of the program. The heavy one is a full
// fence of the caller, then of each thread, one after another. How many times in a row a thread takes the lock before it
// reserves it is left open: here it may at any time.
//
// With two locks of one level, the second may be taken inside the first.

#ifndef T
#define T 2  /* threads */
#endif
#ifndef ROUNDS
#define ROUNDS 2  /* of each thread */
#endif
#ifndef LOCKS
#define LOCKS 1
#endif

#define OWNER(l) (l)  /* owner_: a thread + 1, or 0 */
#define SPIN(l) (LOCKS + (l))  /* lock_ */
#define DATA(l) (2 * LOCKS + (l))  /* what the lock guards */
#define INSIDE(t) (3 * LOCKS + (t))  /* thread_record::inside: a lock + 1, or 0 */
#define CELLS (3 * LOCKS + T)
#define THREADS T
#define BUFFER 16
#include "store_buffers.pml"

// What is only looked at by assertions.
byte holders[LOCKS], entries[LOCKS];

// basic_biased_lock::revoke(), with the spin lock
inline revoke(l) {
#ifdef MUTANT_heavy_fence_first
    heavy_fence();
#endif
#ifndef MUTANT_revoked_owner_stays
    store(me, OWNER(l), 0);
#endif
    if
    :: owner != me + 1 ->
#if !defined(MUTANT_no_heavy_fence) && !defined(MUTANT_heavy_fence_first)
        heavy_fence();
#endif
#ifndef MUTANT_no_wait_for_owner
        LOAD(me, INSIDE(owner - 1)) != (l) + 1;
#endif
        skip
    :: else
    fi
}

// config.hpp's heavy_fence(): the system puts one on the caller first, then on each of the others
inline heavy_fence() {
    fence(me);
    do
    :: u < T ->
        fence(u);
        u++
    :: else -> break
    od;
    u = 0
}

// basic_biased_lock::lock()
inline lock(l) {
    spin_lock(me, SPIN(l));
    owner = LOAD(me, OWNER(l));
    if
    :: owner != 0 -> revoke(l)
    :: else
    fi;
    owner = 0;
    reserves = false;
    if
#ifdef MUTANT_reserved_after_unlock
    :: reserves = true
#else
    :: store(me, OWNER(l), me + 1)
#endif
    :: skip
    fi
}

#ifdef MUTANT_inside_of_two
#define FREE(t) true
#else
#define FREE(t) (LOAD(t, INSIDE(t)) == 0)
#endif

// basic_biased_lock::enter(); `fast`: without the spin lock
inline enter(l, fast) {
    fast = false;
    if
    :: LOAD(me, OWNER(l)) == me + 1 && FREE(me) ->
#ifdef MUTANT_no_light_fence
        fast = LOAD(me, OWNER(l)) == me + 1;  // the load may come first
        store(me, INSIDE(me), (l) + 1);
#else
        store(me, INSIDE(me), (l) + 1);
#ifdef MUTANT_no_second_look
        fast = true;
#else
        fast = LOAD(me, OWNER(l)) == me + 1;
#endif
#endif
        if
        :: !fast ->
#ifndef MUTANT_vain_attempt_stays
            store(me, INSIDE(me), 0);
#endif
            skip
        :: else
        fi
    :: else
    fi;
    if
    :: !fast -> lock(l)
    :: else
    fi
}

// basic_biased_lock::leave()
inline leave(l, fast) {
    if
    :: fast -> store(me, INSIDE(me), 0)
    :: else ->
        spin_unlock(me, SPIN(l));
#ifdef MUTANT_reserved_after_unlock
        if
        :: reserves -> store(me, OWNER(l), me + 1)
        :: else
        fi
#endif
    fi;
    fast = false
}

// Nobody else is inside, and all that was done inside before is seen.
inline begin_section(l) {
    d_step {
        assert(holders[l] == 0 && LOAD(me, DATA(l)) == entries[l]);
        holders[l]++;
        entries[l]++
    };
#ifndef MUTANT_left_before_the_last_store
    store(me, DATA(l), entries[l])
#else
    skip
#endif
}
inline end_section(l) {
    d_step {
        assert(holders[l] == 1);
        holders[l]--
    }
}

proctype thread(byte me) {
    byte round, owner, l, u;
    bool fast, inner, reserves;
    do
    :: round < ROUNDS ->
        round++;
        if
        :: true -> l = 0
        :: LOCKS == 2 -> l = LOCKS - 1
        fi;
        enter(l, fast);
        begin_section(l);
        if
        :: l == 0 && LOCKS == 2 ->
            enter(LOCKS - 1, inner);
            begin_section(LOCKS - 1);
            end_section(LOCKS - 1);
            leave(LOCKS - 1, inner)
        :: else
        fi;
        end_section(l);
        leave(l, fast);
#ifdef MUTANT_left_before_the_last_store
        store(me, DATA(l), entries[l]);
#endif
        l = 0
    :: else -> break
    od
}

init {
    byte t;
    atomic {
        for (t : 0 .. T - 1) {
            run memory_of(t);
            run thread(t)
        }
    }
}
