#include <weir/platform/thread_record.hpp>

#include "support/catch.hpp"

#include <weir/platform/platform.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

// Records of its own for each test.
template <int Test>
struct platform : weir::detail::standard_platform {};
template <int Test>
using record = weir::detail::basic_thread_record<platform<Test>>;

// What a function gives on a thread of its own.
template <class Function>
auto elsewhere(Function&& function) {
    decltype(function()) result{};
    std::thread t([&] { result = function(); });
    t.join();
    return result;
}

// Looks, while its thread ends, what record that has.
template <int Test>
struct late {
    static inline bool looked = false;
    static inline record<Test>* mine = nullptr;
    static inline record<Test>* acquired = nullptr;
    int uses = 0;
    ~late() {
        looked = true;
        mine = record<Test>::mine();
        acquired = record<Test>::acquire();
    }
};
template <int Test>
void look_when_thread_ends() {
    ++weir::detail::objects_of_thread::of_thread<late<Test>>().uses;
}

}  // namespace

TEST_CASE("a thread has no record until it asks for one, and then that one") {
    CHECK(record<0>::mine() == nullptr);
    auto* const mine = record<0>::acquire();
    REQUIRE(mine != nullptr);
    CHECK(record<0>::acquire() == mine);
    CHECK(record<0>::mine() == mine);
    for (const auto& each : mine->inside) CHECK(each.load() == nullptr);
    CHECK(reinterpret_cast<std::uintptr_t>(mine) % 64 == 0);
    auto* const other = elsewhere([] { return record<0>::acquire(); });
    CHECK(other != nullptr);
    CHECK(other != mine);
}

TEST_CASE("threads that live at the same time have different records") {
    constexpr std::size_t count = 8;
    for (int round = 0; round < 20; ++round) {
        std::vector<record<1>*> seen(count);
        std::atomic<std::size_t> ready{0};
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < count; ++i) {
            threads.emplace_back([&, i] {
                seen[i] = record<1>::acquire();
                ++ready;
                while (ready != count) std::this_thread::yield();
            });
        }
        for (std::thread& t : threads) t.join();
        std::sort(seen.begin(), seen.end());
        CHECK(seen.front() != nullptr);
        CHECK(std::adjacent_find(seen.begin(), seen.end()) == seen.end());
    }
}

TEST_CASE("the record of a thread that has ended goes to a later one, and no other is made") {
    auto* const first = elsewhere([] { return record<2>::acquire(); });
    REQUIRE(first != nullptr);
    for (int i = 0; i < 10; ++i) CHECK(elsewhere([] { return record<2>::acquire(); }) == first);
    auto* const mine = record<2>::acquire();
    CHECK(mine == first);
    CHECK(elsewhere([] { return record<2>::acquire(); }) != mine);
}

TEST_CASE("a thread that ends has its record until it gives it back, and then none any more") {
    SECTION("asked for after what looks, which is destroyed later") {
        auto* const given = elsewhere([] {
            look_when_thread_ends<3>();
            return record<3>::acquire();
        });
        REQUIRE(late<3>::looked);
        CHECK(given != nullptr);
        CHECK(late<3>::mine == nullptr);
        CHECK(late<3>::acquired == nullptr);
        CHECK(record<3>::acquire() == given);
    }
    SECTION("asked for before what looks, which is destroyed sooner") {
        auto* const given = elsewhere([] {
            auto* const mine = record<4>::acquire();
            look_when_thread_ends<4>();
            return mine;
        });
        REQUIRE(late<4>::looked);
        CHECK(given != nullptr);
        CHECK(late<4>::mine == given);
        CHECK(late<4>::acquired == given);
        CHECK(record<4>::acquire() == given);
    }
    SECTION("asked for not before the thread ends") {
        elsewhere([] {
            look_when_thread_ends<5>();
            return 0;
        });
        REQUIRE(late<5>::looked);
        CHECK(late<5>::mine == nullptr);
        CHECK(record<5>::acquire() == late<5>::acquired);
    }
}

TEST_CASE("other threads see each record, whether it is in use, and whom its thread serves") {
    using record = record<6>;
    const auto count = [] {
        int all = 0;
        record::each([&](const record&) { ++all; });
        return all;
    };
    CHECK(count() == 0);
    record* const mine = record::acquire();
    int whom = 0;
    auto* const other = elsewhere([&] {
        auto* const r = record::acquire();
        r->serve(&whom);
        CHECK(r->in_use());
        CHECK(r->serves() == &whom);
        return r;
    });
    CHECK(count() == 2);
    CHECK(mine->in_use());
    CHECK(mine->serves() == nullptr);
    CHECK_FALSE(other->in_use());
    elsewhere([&] {
        auto* const r = record::acquire();  // the other one, as of a new thread
        CHECK(r == other);
        CHECK(r->in_use());
        CHECK(r->serves() == nullptr);
        return 0;
    });
    CHECK(count() == 2);
}

namespace {

// A thread that takes a record is interrupted while it holds the lock of those that are free.
struct interrupted_platform : weir::detail::standard_platform {
    static inline void (*inside)() = nullptr;
    static inline std::atomic<bool> somebody_waits = false;
    template <class T>
    struct atomic : std::atomic<T> {
        using std::atomic<T>::atomic;
        void store(T value, std::memory_order order) noexcept {
            std::atomic<T>::store(value, order);
            if constexpr (std::is_same_v<T, const void*>) {
                if (inside != nullptr) std::exchange(inside, nullptr)();
            }
        }
    };
    static void pause() noexcept { somebody_waits = true; }
};

}  // namespace

TEST_CASE("in a forked process no thread waits for a lock of the parent's thread that was taking a record") {
    using platform = interrupted_platform;
    using record = weir::detail::basic_thread_record<platform>;
    elsewhere([] { return record::acquire(); });  // to be had again
    static record* taken = nullptr;
    static std::atomic<bool> over = false;
    static std::thread in_child;
    platform::inside = [] {
        // As if this were the child, and the calling thread were left behind in the parent.
        record::forget_others();
        in_child = std::thread([] {
            taken = record::acquire();
            over = true;
        });
        while (!over && !platform::somebody_waits) std::this_thread::yield();
    };
    record::acquire();
    in_child.join();
    CHECK(platform::inside == nullptr);
    CHECK_FALSE(platform::somebody_waits);
    CHECK(taken != nullptr);
}

TEST_CASE("in a forked process only the record of the forking thread is in use") {
    using record = record<8>;
    record* const mine = record::acquire();
    std::atomic<bool> begun = false, ends = false;
    std::thread other([&] {
        record::acquire();
        begun = true;
        while (!ends) std::this_thread::yield();
    });
    while (!begun) std::this_thread::yield();
    record::forget_others();
    int used = 0;
    record::each([&used](const record& r) { used += r.in_use() ? 1 : 0; });
    CHECK(used == 1);
    CHECK(mine->in_use());
    ends = true;
    other.join();
}

TEST_CASE("a thread is stuck while it sleeps for a flag that isn't set, and only then") {
    using record = record<7>;
    using parker = weir::detail::basic_parker<platform<7>>;
    record* const me = record::acquire();
    parker outer, inner;
    CHECK(me->number_of_stuck_wait() == 0);
    const parker* const before = me->block_on(&outer);
    CHECK(before == nullptr);
    CHECK(me->number_of_stuck_wait() == 0);  // it hasn't begun to sleep
    me->set_sleeping(true);
    const auto first = me->number_of_stuck_wait();
    CHECK(first != 0);
    CHECK(me->block_on(&inner) == &outer);  // inside of the first
    const auto second = me->number_of_stuck_wait();
    CHECK(second != first);
    inner.set();
    CHECK(me->number_of_stuck_wait() == 0);
    me->block_on(nullptr);  // for some time only
    CHECK(me->number_of_stuck_wait() == 0);
    me->block_on(&outer);
    CHECK(me->number_of_stuck_wait() > second);
    me->set_sleeping(false);
    CHECK(me->number_of_stuck_wait() == 0);
    me->block_on(nullptr);
}

namespace {

class counted final : public weir::detail::thread_place {
  public:
    counted() noexcept { belong_to_thread(); }
    bool leave() noexcept override {
        ++left;
        return true;
    }
    int left = 0;
};

}  // namespace

TEST_CASE("a thread that has no place leaves none, and one that has one leaves its own") {
    int left = 0;
    std::thread([&] {
        weir::detail::thread_place::leave_here();
        counted mine;
        weir::detail::thread_place::leave_here();
        std::thread(weir::detail::thread_place::leave_here).join();
        left = mine.left;
    }).join();
    CHECK(left == 1);
}
