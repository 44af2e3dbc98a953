// The channel: ring, ends, lines of waiters, close, cancel, time-outs, a change of capacity, used by threads.
// Each item is delivered once or returned, in order; nobody waits for ever. (A thread that waits stands in
// the same line as a coroutine does; see channel_coroutines.cpp for those.)
// SPDX-License-Identifier: BSL-1.0
#include <weir/channel/channel.hpp>

#include "channel.hpp"

namespace {

using namespace models;
using weir::channel_status;

// `Puts` producers of `Each` items, `Gets` consumers, the rest as the parameters say.
struct blocking {};
struct trying {};
template <class How, int Puts, int Gets, int Each, int Capacity>
struct passing : suite<passing<How, Puts, Gets, Each, Capacity>, Puts + Gets> {
    channel c{Capacity};
    delivery<Puts * Each> got;
    int producing = Puts;

    void run(int me) {
        if (me < Puts) {
            for (int i = 0; i < Each; ++i) put(item(me * Each + i));
            if (--producing == 0) c.close();
            return;
        }
        order<Each> mine;
        for (;;) {
            auto r = get();
            if (r.status() == channel_status::closed) return;
            const int n = r->value();
            got.once(n);
            mine.follows(n);
        }
    }
    void put(item i) {
        if constexpr (std::is_same_v<How, blocking>) {
            expect(c.blocking_put(std::move(i)) == channel_status::success, "an open channel refused");
        } else {
            while (c.try_put(std::move(i)) != channel_status::success) {
                expect(!i.is_gone(), "an item that was refused is gone");
                platform::yield();
            }
        }
    }
    weir::get_result<item> get() {
        if constexpr (std::is_same_v<How, blocking>) {
            return c.blocking_get();
        } else {
            for (;;) {
                auto r = c.try_get();
                if (r.status() != channel_status::empty) return r;
                platform::yield();
            }
        }
    }
    void after() {
        got.all();
        expect(c.size() == 0, "something is left");
    }
};

// One end without waiting, the other one with.
struct mixed : suite<mixed, 2> {
    channel c{1};
    delivery<3> got;

    void run(int me) {
        if (me == 0) {
            for (int i = 0; i < 3; ++i) {
                item it(i);
                while (c.try_put(std::move(it)) != channel_status::success) platform::yield();
            }
            c.close();
            return;
        }
        order<3> mine;
        for (;;) {
            auto r = c.blocking_get();
            if (!r) return;
            got.once(r->value());
            mine.follows(r->value());
        }
    }
    void after() { got.all(); }
};

// All who wait are woken by a close: gets with nothing, puts with their items still theirs.
template <bool Putting>
struct closing : suite<closing<Putting>, 3> {
    channel c{1};
    int kept = 0;

    void before() {
        if (Putting) {
            item first(9);
            expect(c.try_put(std::move(first)) == channel_status::success, "there was room");
        }
    }
    void run(int me) {
        if (me == 0) {
            c.close();
        } else if (Putting) {
            item it(me);
            expect(c.blocking_put(std::move(it)) == channel_status::closed, "there was no room");
            expect(!it.is_gone(), "a closed channel kept an item");
            ++kept;
        } else {
            expect(c.blocking_get().status() == channel_status::closed, "there was nothing to get");
        }
    }
    void after() {
        expect(c.closed(), "it was closed");
        if (!Putting) return;
        expect(kept == 2, "an item was lost");
        auto first = c.try_get();
        expect(first && first->value() == 9, "what was inside is lost");
        expect(c.try_get().status() == channel_status::closed, "something was put after the close");
    }
};

// A close while items pass: each one is delivered or refused.
template <bool Cancel>
struct ending : suite<ending<Cancel>, 3> {
    channel c{1};
    int put = 0;
    int got = 0;
    int refused = 0;

    void run(int me) {
        if (me == 0) {
            for (int i = 0; i < 2; ++i) {
                item it(i);
                if (c.blocking_put(std::move(it)) == channel_status::success) {
                    expect(it.is_gone(), "an item was copied");
                    ++put;
                } else {
                    expect(!it.is_gone(), "an item was refused and kept");
                    ++refused;
                }
            }
        } else if (me == 1) {
            while (auto r = c.blocking_get()) {
                expect(r->value() == got, "items changed their order");
                ++got;
            }
        } else if (Cancel) {
            c.cancel();
        } else {
            c.close();
        }
    }
    void after() {
        expect(put + refused == 2, "an item was lost");
        expect(Cancel ? got <= put : got == put, "what went in did not come out");
        expect(c.size() == 0, "something is left");
    }
};

// A wait with a time limit, while the other side answers it: the item is delivered, or it is still there.
struct get_in_time : suite<get_in_time, 2> {
    channel c{1};
    int got = 0;

    void run(int me) {
        if (me == 0) {
            expect(c.blocking_put(item(0)) == channel_status::success, "there was room");
        } else if (c.blocking_get(weir::duration(100))) {
            ++got;
        }
    }
    void after() { expect(got + static_cast<int>(c.size()) == 1, "an item was lost, or came twice"); }
};
struct put_in_time : suite<put_in_time, 3> {
    channel c{1};
    int inside = 1;

    void before() {
        item first(0);
        expect(c.try_put(std::move(first)) == channel_status::success, "there was room");
    }
    void run(int me) {
        if (me < 2) {
            item it(1 + me);
            if (c.blocking_put(std::move(it), weir::duration(100)) == channel_status::success) {
                expect(it.is_gone(), "an item was copied");
                ++inside;
            } else {
                expect(!it.is_gone(), "an item was lost by a time-out");
            }
        } else if (c.blocking_get()) {
            --inside;
        }
    }
    void after() { expect(inside == static_cast<int>(c.size()), "an item was lost, or came twice"); }
};

// More room wakes those who wait for it; what is inside moves.
struct resizing : suite<resizing, 3> {
    channel c{1};
    delivery<3> got;

    void run(int me) {
        if (me == 0) {
            for (int i = 0; i < 3; ++i) {
                expect(c.blocking_put(item(i)) == channel_status::success, "it is open");
            }
        } else if (me == 1) {
            c.set_capacity(2);
            c.set_capacity(1);
        } else {
            order<3> mine;
            for (int i = 0; i < 3; ++i) {
                const auto r = c.blocking_get();
                got.once(r->value());
                mine.follows(r->value());
            }
        }
    }
    void after() { got.all(); }
};

// Nobody gets: only the room that is made lets the second put in.
struct more_room : suite<more_room, 2> {
    channel c{1};

    void run(int me) {
        if (me == 0) {
            expect(c.blocking_put(item(0)) == channel_status::success, "it is open");
            expect(c.blocking_put(item(1)) == channel_status::success, "it is open");
        } else {
            c.set_capacity(2);
        }
    }
    void after() { expect(c.size() == 2, "an item was lost"); }
};

// The figures: what went in and came out, and never more out than in.
struct counting : suite<counting, 3> {
    models::measured_channel c{2};

    void run(int me) {
        if (me == 0) {
            for (int i = 0; i < 2; ++i) {
                expect(c.blocking_put(item(i)) == channel_status::success, "it is open");
            }
        } else if (me == 1) {
            for (int i = 0; i < 2; ++i) expect(bool(c.blocking_get()), "it is open");
        } else {
            std::uint64_t before = 0;
            for (int i = 0; i < 3; ++i) {
                const auto s = c.stats();
                expect(s.num_put >= before, "a count went back");
                expect(s.num_put == s.num_get + s.size, "the counts don't agree");
                expect(s.size <= 2, "more than fit");
                before = s.num_put;
            }
        }
    }
    void after() {
        const auto s = c.stats();
        expect(s.num_put == 2 && s.num_get == 2 && s.size == 0, "a count is wrong");
    }
};

}  // namespace

int main(int argc, char** argv) {
    return run_all(argc, argv,
                   {
                       check<passing<trying, 1, 1, 3, 2>>("channel/1 to 1 without waiting", 150'000),
                       check<passing<trying, 2, 1, 2, 2>>("channel/2 to 1 without waiting", 60'000),
                       check<passing<trying, 1, 2, 3, 2>>("channel/1 to 2 without waiting", 60'000),
                       check<passing<blocking, 1, 1, 3, 1>>("channel/1 to 1", 150'000),
                       check<passing<blocking, 2, 1, 2, 1>>("channel/2 to 1", 80'000),
                       check<passing<blocking, 1, 2, 3, 1>>("channel/1 to 2", 80'000),
                       check<mixed>("channel/one end without waiting", 100'000),
                       check<closing<false>>("close/gets wait", 150'000),
                       check<closing<true>>("close/puts wait", 150'000),
                       check<ending<false>>("close/items pass", 100'000),
                       check<ending<true>>("cancel/items pass", 100'000),
                       check<get_in_time>("time-out/of a get", 200'000),
                       check<put_in_time>("time-out/of a put", 150'000),
                       check<resizing>("channel/capacity changes", 60'000),
                       check<more_room>("channel/more room", 100'000),
                       check<counting>("channel/figures", 60'000),
                   });
}
