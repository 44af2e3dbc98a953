#include <weir/cuda/completion.hpp>

#include "cuda/support.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

using namespace cuda_tests;
using weir::cuda::detail::completion;
using weir::cuda::detail::event_pool;
using weir::cuda::detail::mailbox;

namespace {

void nothing(completion&) noexcept {}

}  // namespace

TEST_CASE("a mailbox gives out what was put into it, the newest first, once") {
    const auto box = std::make_shared<mailbox>();
    completion& first = completion::make(box, nullptr, nothing);
    completion& second = completion::make(box, nullptr, nothing);
    CHECK(box->put(first));
    CHECK(box->put(second));
    completion* const all = box->take_all();
    CHECK(all == &second);
    CHECK(all->next == &first);
    CHECK(first.next == nullptr);
    CHECK(box->take_all() == nullptr);
    first.disown();
    second.disown();
}

TEST_CASE("a mailbox closes only when it is empty, and takes nothing in from then on") {
    const auto box = std::make_shared<mailbox>();
    completion& one = completion::make(box, nullptr, nothing);
    CHECK(box->put(one));
    CHECK_FALSE(box->try_close());
    CHECK(box->take_all() == &one);
    box->finished_for_context_thread();
    CHECK(box->try_close());
    CHECK_FALSE(box->put(one));
    CHECK_FALSE(box->has_work_for_guard());
    one.disown();
}

TEST_CASE("what the driver calls marks the work as done and wakes the reactor, and nothing else") {
    const auto box = std::make_shared<mailbox>();
    const std::size_t calls = stand_in::calls();
    completion& one = completion::make(box, nullptr, nothing);
    one.own();
    std::thread driver([&] { completion::on_host_function(&one); });
    box->guard([&](std::int64_t) { return one.called ? mailbox::closed : mailbox::never; });
    driver.join();
    CHECK(stand_in::calls() == calls);
    one.disown();
}

TEST_CASE("work whose function comes last of all is given back by that") {
    std::weak_ptr<mailbox> gone;
    completion* last = nullptr;
    {
        const auto box = std::make_shared<mailbox>();
        gone = box;
        last = &completion::make(box, nullptr, nothing);
        last->own();
        last->disown();
    }
    CHECK_FALSE(gone.expired());  // the work still has it
    completion::on_host_function(last);
    CHECK(gone.expired());
    // Its memory is the next one's.
    const auto box = std::make_shared<mailbox>();
    completion& next = completion::make(box, nullptr, nothing);
    CHECK(&next == last);
    next.disown();
}

TEST_CASE("what several threads put into a mailbox is all there, once") {
    const auto box = std::make_shared<mailbox>();
    constexpr std::size_t threads = 3;
    constexpr std::size_t each = 500;
    std::atomic<std::size_t> left{threads};
    std::vector<std::thread> putting;
    for (std::size_t t = 0; t < threads; ++t) {
        putting.emplace_back([&] {
            for (std::size_t i = 0; i < each; ++i) box->put(completion::make(box, nullptr, nothing));
            --left;
        });
    }
    std::size_t got = 0;
    for (bool last = false; !last;) {
        last = left == 0;
        for (completion* c = box->take_all(); c != nullptr;) {
            completion* const next = c->next;
            c->disown();
            c = next;
            ++got;
        }
    }
    for (std::thread& t : putting) t.join();
    CHECK(got == threads * each);
}

TEST_CASE("events are used again, so that there are as many as were in use at once") {
    const fresh_runtime runtime;
    event_pool events(cudaEventDisableTiming);
    std::array<cudaEvent_t, 2> made{};
    for (cudaEvent_t& each : made) {
        CHECK(events.take() == nullptr);
        REQUIRE(cudaEventCreateWithFlags(&each, events.flags()) == cudaSuccess);
    }
    for (int i = 0; i < 10; ++i) {
        for (const cudaEvent_t each : made) events.give(each);
        CHECK(events.take() == made[1]);
        CHECK(events.take() == made[0]);
    }
    for (const cudaEvent_t each : made) events.give(each);
}
