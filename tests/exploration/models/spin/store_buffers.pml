// Memory with a store buffer for each thread: the processors' total store order.
// SPDX-License-Identifier: BSL-1.0
//
// The others see a store when it leaves the buffer, which is any time later, in order; its own thread
// sees it at once. A load, or a store with release, is what it is on such a processor; a store with
// seq_cst is `store` and `fence`; a read-modify-write is a step that begins with `FENCED`.
//
// Source: Sewell, Sarkar, Owens, Zappa Nardelli, Myreen, "x86-TSO" (CACM 2010).
//
// To be defined before: THREADS, CELLS, BUFFER (how many stores a buffer is ever to hold).

byte memory[CELLS];
chan buffer[THREADS] = [BUFFER] of { byte, byte };
// By thread and cell: how many stores are in the buffer, and the last of them.
byte pending[THREADS * CELLS], newest[THREADS * CELLS];

#define AT(t, c) ((t) * CELLS + (c))
#define LOAD(t, c) (pending[AT(t, c)] > 0 -> newest[AT(t, c)] : memory[c])
#define FENCED(t) empty(buffer[t])

inline store(t, c, v) {
    d_step {
        assert(nfull(buffer[t]));
        newest[AT(t, c)] = v;
        pending[AT(t, c)]++;
        buffer[t]!c, newest[AT(t, c)]
    }
}

inline fence(t) { FENCED(t) }

// A spin lock of two steps: its exchange is a fence, its release a store.
inline spin_lock(t, c) { atomic { FENCED(t) && memory[c] == 0 -> memory[c] = 1 } }
inline spin_unlock(t, c) { store(t, c, 0) }

proctype memory_of(byte t) {
    byte c, v;
end:
    do
    :: d_step {
            buffer[t]?c, v ->
            memory[c] = v;
            pending[AT(t, c)]--;
            if
            :: pending[AT(t, c)] == 0 -> newest[AT(t, c)] = 0
            :: else
            fi;
            c = 0;
            v = 0
        }
    od
}
