// How the workers of a pool fall asleep, and how those who make work wake them.
// SPDX-License-Identifier: BSL-1.0
//
// Code: include/weir/executor/idle_workers.hpp, executor/ready_queue.hpp (basic_inbox), platform/parking.hpp
// (basic_event_count), and of executor/thread_pool.hpp what posts, searches and idles. A futex may wake one or all
// of its sleepers; a nap with an end may end at any time.
// A worker's slot and queue are one place here, in which its own stores lie in its store buffer; what a
// thief takes, it takes under a lock that it had to revoke, so after a fence on the victim. What is done
// under a spin lock, and ends with a store with seq_cst, is one step: it begins with a fence and leaves
// nothing in the buffer. Whether the watcher listens is a hint, which may have any value here.
//
// Jobs 1 .. JOBS come from outside. Of those the first CHAINS post another one to their worker; the
// first LONG don't end before job AWAITED has run. Not here: timers, drive().

#ifndef W
#define W 2  /* workers */
#endif
#ifndef JOBS
#define JOBS 1
#endif
#ifndef CHAINS
#define CHAINS 0
#endif
#ifndef LONG
#define LONG 0
#endif
#ifndef AWAITED
#define AWAITED CHILD(1)
#endif
#ifndef EARLY
#define EARLY 0  /* 1: the pool is destroyed while jobs are still queued */
#endif

#define STATE 0    /* active workers * 16 | idle workers * 2 | watch taken */
#define NAP_END 1  /* AWAKE, or until when the watcher naps */
#define INBOX 2    /* its size */
#define STOPPING 3
#define OWN(w) (4 + (w))  /* the job in a worker's slot or queue, or 0 */
#define CELLS (4 + W)
#define THREADS (W + 1)  /* the last one is outside */
#define BUFFER 6
#include "store_buffers.pml"

#define AWAKE 0
#define SHORT 1
#define NEVER 2
#define CHILD(job) (JOBS + (job))
#define UNWATCHED(s) ((s) % 16 != 0 && (s) % 2 == 0)
#define VICTIM ((me + v) % W)

// Under the watch's lock.
byte working = W;
byte idle;
bool taken, chosen, closed;
// basic_event_count: of the sleepers, of the watcher. Read-modify-writes only, but for the looks.
byte sleepers_epoch, sleepers_waiters, watcher_epoch, watcher_waiters;
bool sleeps[W];  // in the futex of the sleepers
bool naps[W];    // in the watcher's

// What is only looked at by assertions.
byte received;  // jobs that left the inbox, in their order
bool ran[2 * JOBS + 1];
byte num_ran, watchers, ended;

// basic_idle_workers::publish(), at the end of what is done under the lock
inline publish() { memory[STATE] = working * 16 + idle * 2 + taken }

// Platform::wake_one() of the sleepers
inline wake_one() {
    atomic {
        if
        :: sleeps[0] -> sleeps[0] = false
        :: sleeps[1 % W] -> sleeps[1 % W] = false
        :: W > 2 && sleeps[2 % W] -> sleeps[2 % W] = false
        :: else
        fi
    }
}

// basic_event_count::notify_one() of the sleepers, and of the watcher
inline notify_sleeper() {
    if
    :: sleepers_waiters != 0 ->
#ifndef MUTANT_epoch_stays
        atomic { FENCED(me) -> sleepers_epoch++ };
#endif
        wake_one()
    :: else
    fi
}
inline notify_watcher() {
    if
    :: watcher_waiters != 0 ->
        atomic { FENCED(me) -> watcher_epoch++ };
        d_step {
            for (v : 0 .. W - 1) {
                naps[v] = false
            }
            v = 0
        }
    :: else
    fi
}

// basic_idle_workers::choose(): a sleeper becomes the watcher
inline choose() {
    d_step {
        FENCED(me) ->
        chose = !taken && idle > 0;
        if
        :: chose ->
            taken = true;
            chosen = true;
            publish()
        :: else
        fi
    };
    if
    :: chose -> notify_sleeper()
    :: else
    fi
}

// basic_idle_workers::request_search(), prepare_request(). From outside it is under the lock of what was pushed to, which takes steps away.
inline call() {
    s = LOAD(me, STATE);
    if
    :: UNWATCHED(s) -> choose()
    :: else
    fi;
    if
    :: s % 16 == 0 || chose
    :: else ->
        if
        :: LOAD(me, NAP_END) == AWAKE
        :: else ->
            atomic {
                FENCED(me) ->
                s = memory[NAP_END];
                memory[NAP_END] = AWAKE
            };
            if
#ifndef MUTANT_watcher_not_notified
            :: s != AWAKE -> notify_watcher()
#endif
            :: else
            fi
        fi
    fi;
    s = 0;
    chose = false
}

// basic_idle_workers::unwatched(), then call()
inline call_if_unwatched() {
    if
#ifndef MUTANT_unwatched_ignored
    :: UNWATCHED(LOAD(me, STATE)) -> call()
#endif
    :: else
    fi
}

// basic_thread_pool::post_from_outside()
inline post_from_outside() {
#ifdef MUTANT_push_unfenced
    store(me, INBOX, 1);
#else
    d_step { FENCED(me) -> memory[INBOX] = memory[INBOX] + 1 };
#endif
    call()
}

// basic_thieves::steal(). What is young may be left where it is.
inline hunt() {
    young = false;
    v = 1;
    do
    :: d_step {
            v < W && memory[OWN(VICTIM)] != 0 && FENCED(VICTIM) && FENCED(me) ->
            found = memory[OWN(VICTIM)];
            memory[OWN(VICTIM)] = 0;
            v = W
        }
    :: d_step {
            v < W && memory[OWN(VICTIM)] != 0 ->
            young = true;
            v++
        }
    :: v < W && memory[OWN(VICTIM)] == 0 -> v++
    :: v == W -> break
    od;
    v = 0
}

// basic_thread_pool::search(), and what find() comes to: the own queue, the inbox, the others'
inline search() {
    if
    :: atomic {
            LOAD(me, OWN(me)) != 0 ->
            found = LOAD(me, OWN(me));
            store(me, OWN(me), 0)
        }
    :: LOAD(me, OWN(me)) == 0 ->
        if
        :: d_step {
                FENCED(me) && memory[INBOX] != 0 ->
                memory[INBOX] = memory[INBOX] - 1;
                received++;
                found = received
            }
        :: LOAD(me, INBOX) == 0 -> hunt()
        fi
    fi
}

// basic_idle_workers::go_idle(); `mine`: the watch is the caller's
inline go_idle() {
    d_step {
        FENCED(me) ->
        working--;
        idle++;
        mine = !taken;
#ifndef MUTANT_watch_not_taken
        taken = true;
#endif
        publish()
    }
}

// basic_idle_workers::sleep(); `mine`: the watch was passed on, else the pool ends
inline sleep() {
    do
    :: atomic { FENCED(me) -> sleepers_waiters++ };
#ifndef MUTANT_ticket_late
        ticket = sleepers_epoch;
#endif
        d_step {
            FENCED(me) ->
#ifndef MUTANT_slept_without_a_look
            mine = chosen;
            chosen = false;
#endif
            over = closed
        };
        if
        :: mine || over ->
            atomic { FENCED(me) -> sleepers_waiters-- };
            break
        :: else
        fi;
#ifdef MUTANT_ticket_late
        ticket = sleepers_epoch;
#endif
        // commit_wait(): the futex refuses where the epoch has moved
        do
        :: atomic { sleepers_epoch == ticket -> sleeps[me] = true };
            !sleeps[me]
        :: sleepers_epoch != ticket -> break
        od;
        atomic { FENCED(me) -> sleepers_waiters-- };
        ticket = 0
    od;
    ticket = 0;
    over = false
}

// basic_idle_workers::wake()
inline wake() { store(me, NAP_END, AWAKE) }

// basic_thread_pool::keep_watch(): a job, or none when the pool ends
inline keep_watch() {
    d_step {
        watchers++;
        assert(watchers == 1)
    };
    do
    :: search();
        if
        :: found != 0 -> break
        :: else
        fi;
        // announce(): the ticket comes first
        alone = LOAD(me, STATE) / 16 == 0;
#ifdef MUTANT_last_look_before_announcement
        over = alone && LOAD(me, STOPPING);
        search();
#endif
#ifndef MUTANT_ticket_after_announcement
        atomic { FENCED(me) -> watcher_waiters++ };
        ticket = watcher_epoch;
#endif
        s = (alone -> NEVER : SHORT);
        store(me, NAP_END, s);
        s = 0;
#ifndef MUTANT_announcement_unfenced
        fence(me);
#endif
#ifdef MUTANT_ticket_after_announcement
        atomic { FENCED(me) -> watcher_waiters++ };
        ticket = watcher_epoch;
#endif
        // Announced. Who finds that the pool is to end finds what was posted before that as well.
#ifndef MUTANT_last_look_before_announcement
#ifdef MUTANT_end_looked_at_last
        search();
        over = alone && LOAD(me, STOPPING);
#else
        over = alone && LOAD(me, STOPPING);
        search();
#endif
#endif
        if
        :: found != 0 || over ->
            wake();  // stay_up()
            atomic { FENCED(me) -> watcher_waiters-- };
            break
        :: else ->
            assert(!alone || !young);
            // nap()
            if
            :: atomic { watcher_epoch == ticket -> naps[me] = true };
                if
                :: !naps[me]
                :: naps[me] && !alone -> naps[me] = false
                fi
            :: watcher_epoch != ticket
            fi;
            atomic { FENCED(me) -> watcher_waiters-- };
            wake()
        fi;
        ticket = 0
    od;
    ticket = 0;
    d_step {
        alone = false;
        over = false;
        young = false;
        watchers--
    }
}

// basic_idle_workers::leave(), and the call after it in basic_thread_pool::idle()
inline leave() {
    d_step {
        FENCED(me) ->
        idle--;
        working++;
#ifdef MUTANT_watch_given_up
        taken = false;
#else
        taken = idle != 0 && working != 1;
#endif
        assert(taken || idle == 0 || working == 1);  // what makes unwatched() exact
        chosen = taken;
        mine = taken;
        publish()
    };
    if
    :: mine -> notify_sleeper()
    :: else
    fi;
    mine = false;
    if
#ifndef MUTANT_left_without_a_call
    :: UNWATCHED(LOAD(me, STATE)) ->
        if
        :: LOAD(me, OWN(me)) != 0 || LOAD(me, INBOX) != 0 -> call()
        :: else
        fi
#endif
    :: else
    fi
}

// basic_idle_workers::close()
inline close() {
    atomic { FENCED(me) -> closed = true };
    if
    :: sleepers_waiters != 0 ->
        atomic { FENCED(me) -> sleepers_epoch++ };
#ifdef MUTANT_close_wakes_one
        wake_one()
#else
        d_step {
            for (v : 0 .. W - 1) {
                sleeps[v] = false
            }
            v = 0
        }
#endif
    :: else
    fi
}

// basic_thread_pool::run(): one coroutine, up to where it suspends or ends
inline run_job() {
    if
    :: found <= CHAINS ->
        // basic_thread_pool::post() by a worker
        assert(LOAD(me, OWN(me)) == 0);
        store(me, OWN(me), CHILD(found));
        if
        :: true -> call()  // into the queue, and the watcher listens
        :: true -> call_if_unwatched()
        fi
    :: else
    fi;
    if
    :: found <= LONG -> ran[AWAITED]
    :: else
    fi;
    d_step {
        assert(!ran[found]);
        ran[found] = true;
        num_ran++;
        found = 0
    }
}

proctype worker(byte me) {
    byte found, v, s, ticket;
    bool young, mine, alone, over, chose;
    do
    :: search();
        if
        :: found == 0 ->
            go_idle();
            if
            :: !mine -> sleep()
            :: else
            fi;
            if
            :: !mine -> break
            :: else
            fi;
            mine = false;
            keep_watch();
            if
            :: found == 0 ->
                close();
                break
            :: else
            fi;
            leave()
        :: else
        fi;
        young = false;
        run_job()
    od;
    ended++
}

proctype outside(byte me) {
    byte posted, v, s;
    bool chose;
    do
    :: posted < JOBS ->
        posted++;
        post_from_outside()
    :: else -> break
    od;
    EARLY || num_ran == JOBS + CHAINS;
    // basic_thread_pool::join()
    d_step { FENCED(me) -> memory[STOPPING] = true };
#ifndef MUTANT_joined_without_a_call
    call();
#endif
    ended == W;
    assert(num_ran == JOBS + CHAINS && idle == W && working == 0)
}

init {
    byte t;
    atomic {
        memory[STATE] = W * 16;
        for (t : 0 .. W) {
            run memory_of(t);
            if
            :: t < W -> run worker(t)
            :: else -> run outside(t)
            fi
        }
    }
}
