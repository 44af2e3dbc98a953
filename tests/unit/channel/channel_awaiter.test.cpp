#include <weir/channel/channel_awaiter.hpp>

#include "support/catch.hpp"

#include <weir/platform/platform.hpp>
#include <weir/task/stop_token.hpp>

#include <type_traits>

using weir::stop_source;
using weir::stop_token;

namespace {

// A callback that counts its calls.
struct count_call {
    int* calls;
    void operator()() const noexcept { ++*calls; }
};
template <class Stop>
using listener = weir::detail::stop_listener<Stop, count_call, weir::detail::standard_platform>;

}  // namespace

TEST_CASE("a requested stop runs the callback of a listener once") {
    int calls = 0;
    stop_source source;
    listener<stop_token> waits(source.get_token());
    CHECK(waits.stop_possible());
    waits.listen({&calls});
    CHECK(calls == 0);
    CHECK_FALSE(waits.stop_requested());
    source.request_stop();
    source.request_stop();
    CHECK(calls == 1);
    CHECK(waits.stop_requested());
}

TEST_CASE("the callback of a listener that begins after the stop runs at once") {
    int calls = 0;
    stop_source source;
    source.request_stop();
    listener<stop_token> late(source.get_token());
    CHECK(late.stop_requested());
    late.listen({&calls});
    CHECK(calls == 1);
}

TEST_CASE("a listener that has ended or is destroyed is not called, and may begin again") {
    int ended = 0, destroyed = 0, restarted = 0;
    stop_source source;
    listener<stop_token> answered(source.get_token());
    answered.listen({&ended});
    answered.listen_no_more();
    {
        listener<stop_token> gone(source.get_token());
        gone.listen({&destroyed});
    }
    listener<stop_token> again(source.get_token());
    again.listen({&ended});
    again.listen_no_more();
    again.listen({&restarted});
    source.request_stop();
    CHECK(ended == 0);
    CHECK(destroyed == 0);
    CHECK(restarted == 1);
}

TEST_CASE("a listener without a stop source is never called, and one without a token is empty") {
    int calls = 0;
    listener<stop_token> unstoppable{stop_token()};
    unstoppable.listen({&calls});
    CHECK_FALSE(unstoppable.stop_possible());
    CHECK_FALSE(unstoppable.stop_requested());

    using tokenless = listener<weir::detail::no_stop>;
    static_assert(std::is_empty_v<tokenless>);
    tokenless without_token{weir::detail::no_stop()};
    without_token.listen({&calls});
    without_token.listen_no_more();
    CHECK_FALSE(without_token.stop_possible());
    CHECK_FALSE(without_token.stop_requested());
    CHECK(calls == 0);
}
