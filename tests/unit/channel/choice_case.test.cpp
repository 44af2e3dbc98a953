#include <weir/channel/choice_case.hpp>

#include "support/catch.hpp"

#include <weir/channel/channel.hpp>
#include <weir/executor/virtual_time.hpp>

#include <coroutine>
#include <memory>
#include <utility>

using weir::channel;
using weir::channel_status;
using weir::virtual_time;

namespace {

using box = std::unique_ptr<int>;
using boxes = channel<box>;
using choice = weir::detail::basic_choice<weir::detail::standard_platform>;
using get = weir::detail::choice_case<boxes, false>;
using put = weir::detail::choice_case<boxes, true>;
using joined = weir::detail::any_choice_case<weir::detail::standard_platform>::joined;

// A choice of a coroutine that is never posted but as a no-op.
struct chooser {
    explicit chooser(virtual_time& time) { all.begin(std::noop_coroutine(), time, nullptr); }
    choice all;
};

}  // namespace

TEST_CASE("a case that can be done is, and says what came of it") {
    virtual_time time;
    boxes c(1, time);
    box one = std::make_unique<int>(1), two = std::make_unique<int>(2);
    put first(c, one), second(c, two);
    get third(c), fourth(c);
    CHECK(first.try_now());
    CHECK(first.take() == channel_status::success);
    CHECK(one == nullptr);
    CHECK_FALSE(second.try_now());
    CHECK(*two == 2);
    CHECK(third.try_now());
    CHECK(**third.take() == 1);
    CHECK_FALSE(fourth.try_now());
    c.close();
    CHECK(second.try_now());
    CHECK(second.take() == channel_status::closed);
    CHECK(fourth.try_now());
    CHECK(fourth.take().status() == channel_status::closed);
}

TEST_CASE(
    "of two in line that are of one choice only one is answered, and who waits behind the other is served") {
    virtual_time time;
    boxes a(1, time), b(1, time);
    chooser both(time), alone(time);
    get of_a(a), of_b(b), behind(b);
    CHECK(of_a.join(both.all, nullptr) == joined::waits);
    CHECK(of_b.join(both.all, nullptr) == joined::waits);
    CHECK(behind.join(alone.all, nullptr) == joined::waits);
    CHECK(a.try_put(std::make_unique<int>(1)) == channel_status::success);
    CHECK(a.size() == 0);
    CHECK(b.try_put(std::make_unique<int>(2)) == channel_status::success);
    CHECK(b.size() == 0);
    CHECK(of_a.is_of(both.all.winner()));
    CHECK(**of_a.take() == 1);
    CHECK(**behind.take() == 2);
    of_b.leave();
    CHECK(b.stats().num_get == 1);
    CHECK(a.try_put(std::make_unique<int>(3)) == channel_status::success);
    CHECK(a.size() == 1);
}

TEST_CASE("room goes to who waits behind one that was answered elsewhere") {
    virtual_time time;
    boxes a(1, time), b(1, time);
    CHECK(a.try_put(std::make_unique<int>(1)) == channel_status::success);
    CHECK(b.try_put(std::make_unique<int>(2)) == channel_status::success);
    chooser both(time), alone(time);
    box mine = std::make_unique<int>(3), also = std::make_unique<int>(4), other = std::make_unique<int>(5);
    put of_a(a, mine), of_b(b, also), behind(b, other);
    CHECK(of_a.join(both.all, nullptr) == joined::waits);
    CHECK(of_b.join(both.all, nullptr) == joined::waits);
    CHECK(behind.join(alone.all, nullptr) == joined::waits);
    CHECK(**a.try_get() == 1);
    CHECK(mine == nullptr);
    CHECK(**b.try_get() == 2);
    CHECK(also != nullptr);
    CHECK(other == nullptr);
    CHECK(**b.try_get() == 5);
    of_b.leave();
}

TEST_CASE("what has become possible is done at its turn, unless another one was answered before") {
    virtual_time time;
    boxes a(1, time), b(1, time);
    chooser first(time), second(time);
    CHECK(b.try_put(std::make_unique<int>(1)) == channel_status::success);
    get of_a(a), of_b(b);
    CHECK(of_a.join(first.all, nullptr) == joined::waits);
    CHECK(of_b.join(first.all, nullptr) == joined::done);
    CHECK(**of_b.take() == 1);
    CHECK(a.try_put(std::make_unique<int>(2)) == channel_status::success);
    CHECK(a.size() == 1);  // it was not handed over
    of_a.leave();
    CHECK(b.try_put(std::make_unique<int>(3)) == channel_status::success);
    static_cast<void>(second.all.claim(nullptr));
    get late(b);
    CHECK(late.join(second.all, nullptr) == joined::too_late);
    CHECK(b.size() == 1);
}

TEST_CASE("a close answers one of a choice and forgets the others") {
    virtual_time time;
    boxes a(1, time);
    chooser both(time);
    get one(a), two(a);
    CHECK(one.join(both.all, nullptr) == joined::waits);
    CHECK(two.join(both.all, nullptr) == joined::waits);
    a.close();
    CHECK(one.is_of(both.all.winner()));
    CHECK(one.take().status() == channel_status::closed);
    two.leave();
}
