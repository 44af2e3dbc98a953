#include <weir/platform/thread_place.hpp>

#include "support/catch.hpp"

#include <thread>

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
