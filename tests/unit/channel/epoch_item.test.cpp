#include <weir/channel/epoch_item.hpp>

#include "support/catch.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using weir::detail::epoch_item;
using weir::detail::epoch_item_traits;
using weir::detail::no_provenance;
using weir::detail::origin;
using weir::detail::provenance;

namespace {

class listener final : public weir::detail::progress_listener {
  public:
    void settle(origin& from, bool taken) noexcept override {
        torn += from.settle(taken, [this](std::uint64_t position) { heard.push_back(position); });
    }
    std::ptrdiff_t torn = 0;
    std::vector<std::uint64_t> heard;
};

using positions = std::vector<std::uint64_t>;

static_assert(std::is_nothrow_move_constructible_v<epoch_item<std::unique_ptr<int>>>);
static_assert(!std::is_copy_constructible_v<provenance>);
static_assert(std::is_same_v<weir::detail::carried_value_t<epoch_item<int>>, int>);
static_assert(std::is_same_v<weir::detail::carried_value_t<int>, int>);
static_assert(std::is_same_v<weir::detail::carry_t<epoch_item<int>, std::string>, epoch_item<std::string>>);
static_assert(std::is_same_v<weir::detail::carry_t<int, std::string>, std::string>);
static_assert(!epoch_item_traits<int>::is_mark(7));

}  // namespace

TEST_CASE("a source item is finished when each share of it has been acknowledged, once") {
    listener told;
    provenance first(2, std::make_shared<origin>(7, told));
    CHECK(first.epoch() == 2);
    provenance second = first.share();
    provenance third = second.share();
    CHECK(third.epoch() == 2);
    second.acknowledge();
    second.acknowledge();  // it holds nothing any more
    first.acknowledge();
    CHECK(told.heard.empty());
    third.acknowledge();
    CHECK(told.heard == positions{7});
}

TEST_CASE("a provenance that is destroyed settles nothing, and one that was moved from holds nothing") {
    listener told;
    {
        provenance lost(0, std::make_shared<origin>(1, told));
    }
    provenance from(0, std::make_shared<origin>(2, told));
    provenance to(std::move(from));
    from.acknowledge();  // NOLINT: that is what is asked
    CHECK(told.heard.empty());
    to.acknowledge();
    CHECK(told.heard == positions{2});
    {
        provenance half(0, std::make_shared<origin>(3, told));
        provenance other = half.share();
        other.acknowledge();
    }
    CHECK(told.heard == positions{2});
}

TEST_CASE("an item made of several items holds a share of each") {
    listener told;
    provenance batch;
    batch.add(provenance(4, std::make_shared<origin>(1, told)));
    batch.add(provenance(4, std::make_shared<origin>(2, told)));
    batch.add(provenance(4));  // of no origin
    provenance twice(4, std::make_shared<origin>(3, told));
    batch.add(twice.share());
    batch.add(std::move(twice));
    CHECK(batch.epoch() == 4);
    provenance part = batch.share();
    batch.acknowledge();
    CHECK(told.heard.empty());
    part.acknowledge();
    CHECK(told.heard == positions{1, 2, 3});
}

TEST_CASE("an element of a batch has the provenance of the item that was gathered in its place") {
    listener told;
    const auto gathered = [&told] {
        provenance batch;
        for (const unsigned n : {1U, 2U, 3U}) batch.add(provenance(4, std::make_shared<origin>(n, told)));
        return batch;
    };
    provenance batch = gathered();
    provenance first = batch.of_element(0, 3), second = batch.of_element(1, 3);
    second.acknowledge(true);
    CHECK(told.heard == positions{2});
    batch.of_element(2, 3).acknowledge(true);
    batch.acknowledge();
    CHECK(told.heard == positions{2, 3});
    first.acknowledge();
    CHECK(told.heard == positions{2, 3, 1});
    CHECK(told.torn == 0);
    told.heard.clear();
    // Where the places say nothing, they are settled together.
    for (const std::size_t size : {std::size_t{3}, std::size_t{2}}) {
        batch = gathered();
        if (size == 3) batch.clear_elementwise();
        std::vector<provenance> parts;
        for (std::size_t k = 0; k < size; ++k) parts.push_back(batch.of_element(k, size));
        batch.acknowledge();
        for (std::size_t k = 0; k < size; ++k) {
            CHECK(told.torn == (k == 0 ? 0 : 1));
            CHECK(told.heard.empty());
            parts[k].acknowledge(true);
        }
        CHECK(told.torn == 0);
        CHECK(std::exchange(told.heard, {}) == positions{1, 2, 3});
    }
}

TEST_CASE("an origin is torn while the consumer has some of its shares, and not others") {
    listener told;
    provenance one(0, std::make_shared<origin>(7, told));
    provenance dropped = one.share(), taken = one.share(), last = one.share();
    dropped.acknowledge();
    CHECK(told.torn == 0);
    taken.acknowledge(true);
    CHECK(told.torn == 1);
    last.acknowledge(true);
    CHECK(told.torn == 1);
    one.acknowledge();
    CHECK(told.torn == 0);
    CHECK(told.heard == positions{7});
}

TEST_CASE("an epoch item is a value with its provenance, or a mark") {
    listener told;
    std::string text = "some text that is too long for its object";
    epoch_item<std::string> item(std::move(text), provenance(3, std::make_shared<origin>(9, told)));
    CHECK_FALSE(item.is_mark());
    CHECK(item.epoch() == 3);
    CHECK(std::as_const(item).value().size() == 41);
    epoch_item<std::string> moved(std::move(item));
    CHECK(moved.value().size() == 41);
    auto about = epoch_item_traits<epoch_item<std::string>>::provenance_of(moved);
    moved.item_provenance().acknowledge();
    CHECK(told.heard.empty());
    int length = 41;
    auto other = epoch_item_traits<epoch_item<std::string>>::carry(length, std::move(about));
    static_assert(std::is_same_v<decltype(other), epoch_item<int>>);
    CHECK(other.value() == 41);
    CHECK(other.epoch() == 3);
    other.item_provenance().acknowledge();
    CHECK(told.heard == positions{9});
    const auto mark = epoch_item<int>::end_of_epoch(5);
    CHECK(mark.is_mark());
    CHECK(epoch_item_traits<epoch_item<int>>::is_mark(mark));
    CHECK(mark.epoch() == 5);
}

TEST_CASE("without epochs an item is itself, and its provenance is empty") {
    int n = 5;
    CHECK(&epoch_item_traits<int>::value_of(n) == &n);
    no_provenance about = epoch_item_traits<int>::provenance_of(n);
    CHECK(about.epoch() == 0);
    about.add(about.share());
    about.acknowledge();
    CHECK(epoch_item_traits<int>::carry(n, no_provenance()) == 5);
}
