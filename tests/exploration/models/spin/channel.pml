// The protocol of a channel: two ends with a lock each, or one for both, two words that say who needs the
// whole, two lines.
// SPDX-License-Identifier: BSL-1.0
//
// Code: include/weir/channel/channel_core.hpp, channel/channel_items.hpp, channel/any_channel.hpp, channel/channel_operations.hpp, channel/channel.hpp. Memory is
// sequentially consistent here: all is read under a lock, but for the hints, which may have any value
// here. Locks are locks here; biased_lock.pml shows that they are. A coroutine is a process; a post to its
// executor makes it runnable.
//
// Not here: clocks and figures, marks, a run's byte budget. A turn that is used up leaves out the try at
// one end, which is always allowed here; the post that follows doesn't touch the channel.
//
// Nothing runs in a circle: without a deadlock, every run ends. Then `main` counts the items.

#define END 0  /* everything is put and got, then the channel is closed */
#define CLOSE 1  /* it is closed at any moment */
#define CANCEL 2  /* the same, and what is inside is thrown away */
#define STOP 3  /* one coroutine, TARGET, is asked to stop at any moment; then as END */
#define TIMEOUT 4  /* one thread, TARGET, gives up at any moment of its first wait; then as END */
#define RECALL 5  /* one of the slots that get, TARGET, need not wait any longer; then as END */
#define RESIZE 6  /* the capacity becomes NEW at any moment; then as END */

#ifndef P
#define P 1  /* producers, the processes 0 .. */
#endif
#ifndef C
#define C 1  /* consumers, the processes P .. */
#endif
#ifndef ITEMS
#define ITEMS 2  /* of each producer */
#endif
#ifndef CAP
#define CAP 1
#endif
#ifndef NEW
#define NEW CAP
#endif
#ifndef ONE
#define ONE 0  /* up to this capacity the ends have one lock */
#endif
#ifndef BYTES
#define BYTES 0  /* the limit in bytes; 0: none */
#endif
#ifndef STATISTICS
#define STATISTICS 0  /* the policy measures when the channel is empty */
#endif
#ifndef SCENARIO
#define SCENARIO END
#endif
#ifndef TARGET
#define TARGET 0
#endif

#define MAIN (P + C)
#define TOTAL (P * ITEMS)
#define PLACES 4  /* of the largest ring */
#define PLACES_FOR(n) ((n) > 2 -> 4 : (n))  /* a power of two */
#define BEHIND(a, b) (((a) - (b) + 256) % 256)  /* a - b of unsigned numbers */
#define SIZE (put_count - get_count)  /* core::size() */
#define SIZE_OF(v) (BYTES > 0 -> 1 + (v) % 2 : 0)  /* in bytes, if they are counted */
#define FITS(v) (BYTES == 0 || SIZE == 0 || bytes + SIZE_OF(v) <= BYTES)  /* store::fits() */

mtype = { pending, done, ended, stopped, timed_out };  // detail::outcome

// channel_end, twice
bool put_locked, get_locked;
byte put_count, get_count;
byte put_seen, get_seen;
// channel_core and any_channel
bool put_needs_both = (STATISTICS && CAP > ONE) || BYTES > 0;
bool get_needs_both = BYTES > 0;
bool one_lock = CAP <= ONE;
bool closed;
byte capacity = CAP;
chan putters = [P] of { byte };
chan getters = [C] of { byte };
byte ring[PLACES];  // 0: a place without an item
byte places = PLACES_FOR(CAP);
byte bytes;
bool meter_empty = true;

// waiter: of each process, which waits for one thing at a time
bool linked[P + C];
bool stop_seen[P + C];
mtype outcome[P + C];
byte item[P + C];    // put: to take; get: what has arrived
byte number[P + C];  // get: of the item
bool runnable[P + C];  // it was posted, or its flag was set
bool alive[P + C];     // the operation is there, and may be touched
chan woken[P + C + 1] = [P + C] of { byte };  // wake_list, of the caller

// stop_token of TARGET, see stop.pml; slot::recalled
bool requested, registered, in_callback, recalled;

// What is only looked at by assertions.
bool accepted[TOTAL + 1], delivered[TOTAL + 1], discarded[TOTAL + 1];
byte order[TOTAL];  // by number
byte num_accepted, num_delivered, producers_left, consumers_left;
bool target_left;
bool to_let_in;  // a putter has left; whoever took it out looks next who fits now

inline lock(word) { atomic { !word -> word = true } }

// whole::whole(); `apart`: for who may change whether the ends have one lock
inline lock_whole(apart) {
#ifndef MUTANT_put_end_unlocked
    lock(put_locked);
#endif
    two_locks = apart || !one_lock;
#ifndef MUTANT_get_end_unlocked
    if
    :: two_locks -> lock(get_locked)
    :: else
    fi;
#endif
    skip
}

// whole::~whole(): leaves word for those who will hold only one end's lock. And what has to hold whenever
// somebody lets go of the whole.
inline unlock_whole() {
    d_step {
        put_needs_both = BYTES > 0;
#ifndef MUTANT_put_ignores_closed
        put_needs_both = put_needs_both || closed;
#endif
#ifndef MUTANT_put_ignores_getters
        put_needs_both = put_needs_both || len(getters) > 0;
#endif
#ifndef MUTANT_put_ignores_empty
        put_needs_both = put_needs_both || (STATISTICS && SIZE == 0 && !one_lock);
#endif
        get_needs_both = BYTES > 0;
#ifndef MUTANT_get_ignores_putters
        get_needs_both = get_needs_both || len(putters) > 0;
#endif
        assert(SIZE == 0 || len(getters) == 0);  // no getter waits while an item is inside
        if                                       // no putter waits while there is room
        :: len(putters) > 0 ->
            putters?<w>;
            assert(to_let_in || SIZE >= capacity || !FITS(item[w]));
            w = 0
        :: else
        fi;
        assert(!closed || (len(putters) == 0 && len(getters) == 0));
        assert(SIZE <= (CAP > NEW -> CAP : NEW));
        assert(!STATISTICS || meter_empty == (SIZE == 0))
    };
#ifndef MUTANT_get_end_unlocked
    get_locked = get_locked && !two_locks;
#endif
#ifndef MUTANT_put_end_unlocked
    put_locked = false;
#endif
    skip
}

// core::wake_all(): after the locks. Nothing is touched of a waiter after its wake.
inline wake_all() {
    do
    :: d_step {
            woken[me]?w ->
            assert(alive[w] && !linked[w] && !runnable[w]);
            runnable[w] = true;
            w = 0
        }
    :: empty(woken[me]) -> break
    od
}

// store::push(): the item is in its place before the count says so
inline push(v) {
#ifdef MUTANT_put_count_first
    put_count = put_count + 1;
    d_step {
        assert(ring[(put_count - 1) % places] == 0);
        ring[(put_count - 1) % places] = v
    }
#else
    d_step {
        assert(ring[put_count % places] == 0);
        ring[put_count % places] = v
    };
    put_count = put_count + 1
#endif
}

// store::pop(): and it is out of it
inline pop() {
#ifdef MUTANT_get_count_first
    get_count = get_count + 1;
    d_step {
        assert(ring[(get_count - 1) % places] != 0);
        item[me] = ring[(get_count - 1) % places];
        number[me] = get_count - 1;
        ring[(get_count - 1) % places] = 0
    }
#else
    d_step {
        assert(ring[get_count % places] != 0);
        item[me] = ring[get_count % places];
        number[me] = get_count;
        ring[get_count % places] = 0
    };
    get_count = get_count + 1
#endif
}

// items::put_here(), with the lock of its end
inline put_here(v) {
    lock(put_locked);
    if
#ifndef MUTANT_put_word_unread
    :: put_needs_both
#endif
#ifdef MUTANT_put_word_unread
    :: true ->
#else
    :: else ->
#endif
        if
        :: atomic { BEHIND(put_count, put_seen) >= capacity -> put_seen = get_count }
        :: BEHIND(put_count, put_seen) < capacity
        fi;
        if
#ifndef MUTANT_put_beyond_capacity
        :: BEHIND(put_count, put_seen) >= capacity
#endif
        :: else ->
            push(v);
#ifndef MUTANT_put_under_one_lock_stays_empty
            meter_empty = meter_empty && !(one_lock && SIZE == 1);  // items::put_accounted()
#endif
            outcome[me] = done;
            assert(len(getters) == 0)
        fi
    fi;
    put_locked = false
}

#ifdef MUTANT_get_takes_last
#define LEAST 1
#else
#define LEAST (1 + (STATISTICS && !one_lock))  /* who takes the last one makes the channel empty */
#endif

// items::get_here(), with the lock of its end, or that of both: which one it is may change before it is taken
inline get_here() {
    two_locks = !one_lock;
    if
    :: two_locks -> lock(get_locked)
    :: else -> lock(put_locked)
    fi;
    if
#ifndef MUTANT_get_keeps_the_wrong_lock
    :: two_locks == one_lock
#endif
#ifdef MUTANT_get_word_unread
    :: two_locks != one_lock ->
#else
    :: get_needs_both
    :: else ->
#endif
        if
        :: atomic { BEHIND(get_seen, get_count) < LEAST -> get_seen = put_count }
        :: BEHIND(get_seen, get_count) >= LEAST
        fi;
        if
        :: BEHIND(get_seen, get_count) < LEAST
        :: else ->
            pop();
#ifndef MUTANT_get_under_one_lock_not_empty
            meter_empty = meter_empty || (one_lock && SIZE == 0);  // items::get_accounted()
#endif
            outcome[me] = done;
            assert(len(putters) == 0)
        fi
    fi;
    if
    :: two_locks -> get_locked = false
    :: else -> put_locked = false
    fi
}

// store::offer()
inline offer(v) {
    if
    :: closed -> outcome[me] = ended
    :: !closed && len(getters) > 0 ->
        d_step {
            getters?w;
            assert(linked[w]);
            linked[w] = false;
            outcome[w] = done;
            item[w] = v;
            number[w] = put_count;
            woken[me]!w;
            w = 0
        };
#ifdef MUTANT_handover_into_ring
        push(v);
#else
        put_count = put_count + 1;
        get_count = put_count;
#ifndef MUTANT_seen_stays_behind
        get_seen = put_count;
#endif
#endif
        outcome[me] = done
    :: !closed && len(getters) == 0 && SIZE < capacity && FITS(v) && len(putters) == 0 ->
        meter_empty = meter_empty && SIZE > 0;  // core::emptiness_changed()
        bytes = bytes + SIZE_OF(v);
        push(v);
        outcome[me] = done
    :: else
    fi
}

// store::admit_putters(): whoever waits to put gets the places that are free
inline admit_putters() {
    do
    :: SIZE < capacity && len(putters) > 0 ->
        putters?<w>;
        if
        :: FITS(item[w]) ->
            d_step {
                putters?w;
                linked[w] = false;
                outcome[w] = done;
                woken[me]!w;
                bytes = bytes + SIZE_OF(item[w])
            };
            push(item[w])
        :: else -> break
        fi
    :: else -> break
    od;
    w = 0
}

// store::take()
inline take() {
    if
    :: SIZE == 0 && closed -> outcome[me] = ended
    :: SIZE == 0 && !closed
    :: else ->
        get_seen = put_count;
        pop();
        bytes = bytes - SIZE_OF(item[me]);
#ifndef MUTANT_take_admits_nobody
        admit_putters();
#endif
        meter_empty = meter_empty || SIZE == 0;
        outcome[me] = done
    fi
}

// store::shut()
inline shut() {
    closed = true;
    do
    :: d_step {
            len(putters) > 0 ->
            putters?w;
            linked[w] = false;
            outcome[w] = ended;
            woken[me]!w;
            w = 0
        }
    :: d_step {
            len(putters) == 0 && len(getters) > 0 ->
            getters?w;
            linked[w] = false;
            outcome[w] = ended;
            woken[me]!w;
            w = 0
        }
#ifdef MUTANT_close_wakes_one
        ; break
#endif
    :: len(putters) == 0 && len(getters) == 0 -> break
    od
}

// any_channel::cancel(): the ring is swapped for an empty one
inline discard() {
    d_step {
        do
        :: get_count != put_count ->
            assert(ring[get_count % places] != 0);
            discarded[ring[get_count % places]] = true;
            ring[get_count % places] = 0;
            get_count++
        :: else -> break
        od;
#ifdef MUTANT_discard_forgets_seen
        get_seen = get_seen;
#else
        get_seen = put_count;
#endif
        bytes = 0;
        meter_empty = true
    }
}

// store::grow(): the items move to the places that they have in the larger ring
inline grow(n) {
    capacity = n;
    one_lock = n <= ONE;
    d_step {
        if
        :: PLACES_FOR(n) > places ->
            // Two rings in one array: an item that moves from a place to itself stays.
            for (k : 0 .. SIZE - 1) {
                moved[k] = ring[(get_count + k) % places];
                ring[(get_count + k) % places] = 0
            }
            for (k : 0 .. SIZE - 1) {
                ring[(get_count + k) % PLACES_FOR(n)] = moved[k];
                moved[k] = 0
            }
#ifndef MUTANT_grow_moves_nothing
            places = PLACES_FOR(n)
#endif
        :: else
        fi;
        k = 0
    };
#ifndef MUTANT_grow_admits_nobody
    admit_putters()
#else
    skip
#endif
}

// core::remove_waiter() of a waiter that is anywhere in its line
inline remove_waiter(who, how) {
    d_step {
#ifndef MUTANT_stop_leaves_in_line
        if
        :: who < P -> putters??eval(who)
        :: else -> getters??eval(who)
        fi;
#endif
        linked[who] = false;
        to_let_in = who < P && BYTES > 0;
        outcome[who] = how
    }
}

// store::let_in(): after a putter that left without being served
inline let_in(who) {
    if
    :: who < P && BYTES > 0 ->
        lock_whole(false);
        to_let_in = false;
#ifndef MUTANT_nobody_is_let_in
        admit_putters();
#endif
        unlock_whole();
        wake_all()
    :: else
    fi
}

// store::stop(): a waiter that was answered stands, one that does not wait yet won't
inline stop(who) {
    lock_whole(false);
    if
#ifdef MUTANT_stop_overrides
    :: !linked[who] ->
        assert(alive[who]);
        stop_seen[who] = true;
        outcome[who] = stopped
#else
    :: !linked[who] ->
        assert(alive[who]);
        stop_seen[who] = true
#endif
    :: linked[who] ->
        remove_waiter(who, stopped);
        woken[me]!who
    fi;
    unlock_whole();
    wake_all();
    let_in(who)
}

#define LISTENS (me == TARGET && SCENARIO == STOP && !gave_up)
// A stop was asked for, and nobody is going to tell this operation.
#define STOP_UNHEARD (LISTENS && requested && !registered && !in_callback)

// stop_listener::listen(). With a stop that was asked for, the callback runs at once: marks the waiter.
inline listen() {
    if
    :: atomic { LISTENS && !requested -> registered = true }
    :: atomic {
            LISTENS && requested ->
#ifndef MUTANT_early_stop_unmarked
            stop_seen[me] = true
#else
            skip
#endif
        }
    :: !LISTENS
    fi
}

// stop_listener::listen_no_more(): waits for a callback that runs right now
inline listen_no_more() {
#ifdef MUTANT_callback_outlives
    registered = (me == TARGET -> false : registered)
#else
    if
    :: atomic { me == TARGET && registered -> registered = false }
    :: me == TARGET && !registered && !in_callback
    :: me != TARGET
    fi
#endif
}

// Suspended until somebody wakes it; or block(), whose time may end: core::forget()
inline wait() {
    if
    :: runnable[me] -> runnable[me] = false
    :: SCENARIO == TIMEOUT && me == TARGET && !gave_up ->
        lock_whole(false);
        if
        :: linked[me] ->
            remove_waiter(me, timed_out);
            unlock_whole();
            let_in(me)
        :: !linked[me] ->
            unlock_whole();
#ifdef MUTANT_timeout_overrides
            outcome[me] = timed_out;
#endif
            runnable[me];  // answered this moment; whoever did it sets the flag next
            runnable[me] = false
        fi
    fi
}

inline begin_operation() {
    d_step {
        alive[me] = true;
        stop_seen[me] = false;
        outcome[me] = pending
    }
}
inline end_operation() {
    listen_no_more();
    d_step {
        assert(outcome[me] != pending && !linked[me] && !runnable[me]);
        alive[me] = false
    }
}

// put_operation: await_ready, await_suspend, await_resume; or block_on_put. Where both ends have one lock, the
// try at one end is one that fails.
inline put(v) {
    begin_operation();
    item[me] = v;
    if
    :: put_here(v)
    :: skip  // the word says so, or the turn is used up
    fi;
    if
    :: outcome[me] == pending ->
        lock_whole(false);
#ifndef MUTANT_no_second_try
        offer(v);
#endif
        if
        :: outcome[me] == pending && LISTENS ->  // prepare_to_wait(), under no lock; then once more
            unlock_whole();
            listen();
            lock_whole(false);
            offer(v)
        :: else
        fi;
        if
        :: outcome[me] == pending && stop_seen[me] -> outcome[me] = stopped
        :: outcome[me] == pending && !stop_seen[me] ->
            d_step {
                assert(!STOP_UNHEARD);
                putters!me;
                linked[me] = true;
                waits = true
            }
        :: else
        fi;
        unlock_whole();
        wake_all();
        if
        :: waits ->
            waits = false;
            wait()
        :: else
        fi
    :: else
    fi;
    end_operation()
}

#ifdef MUTANT_recall_unread
#define RECALLED false
#else
#define RECALLED (recalled && me == TARGET)
#endif

// get_operation: the same; or block_on_get
inline get() {
    begin_operation();
    if
    :: get_here()
    :: skip  // the word says so, or the turn is used up
    fi;
    if
    :: outcome[me] == pending ->
        lock_whole(false);
#ifndef MUTANT_no_second_try
        take();
#endif
        if
        :: outcome[me] == pending && LISTENS ->  // prepare_to_wait(), under no lock; then once more
            unlock_whole();
            listen();
            lock_whole(false);
            take()
        :: else
        fi;
        if
        :: outcome[me] == pending && (stop_seen[me] || RECALLED) -> outcome[me] = stopped
        :: outcome[me] == pending && !stop_seen[me] && !RECALLED ->
            d_step {
                assert(!STOP_UNHEARD);
                getters!me;
                linked[me] = true;
                waits = true
            }
        :: else
        fi;
        unlock_whole();
        wake_all();
        if
        :: waits ->
            waits = false;
            wait()
        :: else
        fi
    :: else
    fi;
    end_operation()
}

proctype producer(byte me) {
    byte k, w;
    bool waits, gave_up, two_locks;
    do
    :: k < ITEMS ->
        k++;
        put(me * ITEMS + k);
        d_step {
            if
            :: outcome[me] == done ->
                accepted[me * ITEMS + k] = true;
                num_accepted++
            :: outcome[me] == ended -> assert(closed)
            :: else -> gave_up = true
            fi;
            item[me] = 0;
            outcome[me] = pending
        }
    :: else -> break
    od;
    producers_left--
}

proctype consumer(byte me) {
    byte w;
    bool waits, gave_up, two_locks;
    do
    :: true ->
        get();
        if
        :: d_step {
                outcome[me] == done ->
                assert(item[me] != 0 && !delivered[item[me]] && order[number[me]] == 0);
                delivered[item[me]] = true;
                order[number[me]] = item[me];
                num_delivered++;
                item[me] = 0;
                number[me] = 0;
                outcome[me] = pending
            }
        :: outcome[me] == ended ->
            assert(closed);
            break
        :: outcome[me] == stopped && SCENARIO == RECALL -> break
        :: (outcome[me] == stopped && SCENARIO != RECALL) || outcome[me] == timed_out -> gave_up = true
        fi
    od;
    target_left = target_left || me == TARGET;
    consumers_left--
}

init {
    byte me = MAIN;
    byte k, w;
    bool two_locks;
    byte moved[PLACES];
    byte last[P];
    atomic {
        producers_left = P;
        consumers_left = C;
        for (k : 0 .. P + C - 1) {
            outcome[k] = pending;
            if
            :: k < P -> run producer(k)
            :: else -> run consumer(k)
            fi
        }
        k = 0
    }

    if
    :: SCENARIO == STOP ->  // stop_source::request_stop()
        atomic {
            requested = true;
            if
            :: registered ->
                registered = false;
                in_callback = true
            :: else
            fi
        };
        if
        :: in_callback ->
            stop(TARGET);
            in_callback = false
        :: else
        fi
    :: SCENARIO == RECALL ->  // core::recall()
        recalled = true;
        lock_whole(false);
        if
        :: linked[TARGET] ->
            remove_waiter(TARGET, stopped);
            woken[me]!TARGET
        :: else
        fi;
        unlock_whole();
        wake_all()
    :: SCENARIO == RESIZE ->  // channel::set_capacity()
        // Where it ends the mode of one lock, the second one orders memory, of which this model knows nothing.
        lock_whole(true);
        grow(NEW);
        unlock_whole();
        wake_all()
    :: else
    fi;
    if
    :: SCENARIO == CLOSE || SCENARIO == CANCEL
    :: else ->
        producers_left == 0;
        num_delivered == num_accepted;
        SCENARIO != RECALL || target_left
    fi;

    // channel::close() and cancel()
    lock_whole(false);
    shut();
    if
    :: SCENARIO == CANCEL -> discard()
    :: else
    fi;
    unlock_whole();
    wake_all();

    producers_left == 0 && consumers_left == 0;
    d_step {
        assert(SIZE == 0 && !put_locked && !get_locked && bytes == 0);
        for (k : 1 .. TOTAL) {
            assert(accepted[k] == (delivered[k] || discarded[k]));
            assert(!delivered[k] || !discarded[k])
        }
        // In the order of the gets, each producer's items come as they were put.
        for (k : 0 .. TOTAL - 1) {
            if
            :: order[k] != 0 ->
                assert(order[k] > last[(order[k] - 1) / ITEMS]);
                last[(order[k] - 1) / ITEMS] = order[k]
            :: else
            fi
        }
    }
}
