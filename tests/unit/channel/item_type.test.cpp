#include <weir/channel/item_type.hpp>

#include "support/catch.hpp"

#include <weir/channel/epoch_item.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using weir::detail::item_type;
using weir::detail::item_type_of;

TEST_CASE("an item moves, and goes, by its type's functions") {
    const item_type& type = item_type_of<std::shared_ptr<int>>;
    auto from = std::make_shared<int>(7);
    const std::weak_ptr<int> seen = from;
    alignas(std::shared_ptr<int>) unsigned char to[sizeof(std::shared_ptr<int>)];
    type.move(&from, to);
    CHECK(from == nullptr);
    CHECK(seen.use_count() == 1);
    type.destroy(to);
    CHECK(seen.expired());
    auto other = std::make_shared<int>(8);
    const std::weak_ptr<int> other_seen = other;
    alignas(std::shared_ptr<int>) unsigned char between[sizeof(std::shared_ptr<int>)];
    type.move(&other, between);
    type.relocate(between, to);
    CHECK(other_seen.use_count() == 1);
    type.destroy(to);
    CHECK(other_seen.expired());
    CHECK(type.size == sizeof(from));
    CHECK(type.alignment == alignof(std::shared_ptr<int>));
}

TEST_CASE("an item counts for its bytes, with what it came from or without; a mark for none") {
    const std::vector<std::int32_t> item(5);
    CHECK(item_type_of<std::vector<std::int32_t>>.bytes(&item) == 20);
    CHECK(item_type_of<std::vector<std::int32_t>>.is_mark == nullptr);

    using tracked = weir::detail::epoch_item<std::vector<std::int32_t>>;
    const item_type& type = item_type_of<tracked>;
    tracked one(std::vector<std::int32_t>(5), weir::detail::provenance(1));
    const tracked mark = tracked::end_of_epoch(1);
    CHECK(type.bytes(&one) == 20);
    CHECK(type.bytes(&mark) == 0);
    CHECK_FALSE(type.is_mark(&one));
    CHECK(type.is_mark(&mark));
}
