#include <weir/channel/stop_listener.hpp>

#include "support/catch.hpp"

#include <weir/platform/platform.hpp>
#include <weir/task/stop_token.hpp>

#include <type_traits>
#include <utility>
#include <vector>

using weir::stop_source;
using weir::stop_token;

namespace {

// What a listener wants of a channel: it writes down who was stopped.
struct line_of_waiters {
    struct core_type {
        using platform = weir::detail::standard_platform;
        enum class side { put, get };
        struct waiter {};
    };
    using side = core_type::side;
    using waiter = core_type::waiter;

    void stop(waiter& who, side line) noexcept { stopped.emplace_back(&who, line); }

    std::vector<std::pair<waiter*, side>> stopped;
};
using side = line_of_waiters::side;

template <class Stop>
class operation : public weir::detail::stop_listener<line_of_waiters, Stop> {
    using base = weir::detail::stop_listener<line_of_waiters, Stop>;

  public:
    explicit operation(Stop stop = {}) noexcept : base(std::move(stop)) {}
    using base::listen;
    using base::listen_no_more;
    using base::stop_requested;
    line_of_waiters::waiter me;
};

}  // namespace

TEST_CASE("a stop reaches the operation that waits, in the line where it does, once") {
    line_of_waiters channel;
    stop_source source;
    operation<stop_token> waits(source.get_token());
    waits.listen(channel, waits.me, side::get);
    CHECK(channel.stopped.empty());
    CHECK_FALSE(waits.stop_requested());
    source.request_stop();
    source.request_stop();
    REQUIRE(channel.stopped.size() == 1);
    CHECK(channel.stopped[0] == std::pair(&waits.me, side::get));
    CHECK(waits.stop_requested());
}

TEST_CASE("whoever listens after the stop is stopped at once") {
    line_of_waiters channel;
    stop_source source;
    source.request_stop();
    operation<stop_token> late(source.get_token());
    CHECK(late.stop_requested());
    late.listen(channel, late.me, side::put);
    REQUIRE(channel.stopped.size() == 1);
    CHECK(channel.stopped[0] == std::pair(&late.me, side::put));
}

TEST_CASE("an operation that listens no more, or is gone, isn't stopped, and may listen again") {
    line_of_waiters channel;
    stop_source source;
    operation<stop_token> answered(source.get_token());
    answered.listen(channel, answered.me, side::put);
    answered.listen_no_more();
    {
        operation<stop_token> gone(source.get_token());
        gone.listen(channel, gone.me, side::put);
    }
    operation<stop_token> again(source.get_token());
    again.listen(channel, again.me, side::put);
    again.listen_no_more();
    again.listen(channel, again.me, side::get);
    source.request_stop();
    REQUIRE(channel.stopped.size() == 1);
    CHECK(channel.stopped[0] == std::pair(&again.me, side::get));
}

TEST_CASE(
    "an operation that nobody can stop doesn't listen; one that was given no token has nothing to do so") {
    line_of_waiters channel;
    operation<stop_token> unstoppable;
    unstoppable.listen(channel, unstoppable.me, side::get);
    CHECK_FALSE(unstoppable.stop_requested());

    using tokenless = weir::detail::stop_listener<line_of_waiters, weir::detail::no_stop>;
    static_assert(std::is_empty_v<tokenless>);
    struct without_token : tokenless {
        without_token() noexcept : tokenless(weir::detail::no_stop()) {}
        using tokenless::stop_requested;
    };
    CHECK_FALSE(without_token::stop_requested());
    CHECK(channel.stopped.empty());
}
