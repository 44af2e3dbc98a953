#include <weir/sampling/checkpoint_bytes.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

using Catch::Matchers::ContainsSubstring;
using weir::detail::checkpoint_fields;

namespace {

checkpoint_fields some() {
    checkpoint_fields f;
    f.order = 1;
    f.tail = 2;
    f.rank = 3;
    f.world = 0x04050607;
    f.weights = 0x08090a0b;
    f.run = UINT32_MAX;
    f.size = UINT64_MAX;
    f.seed = 0x0102030405060708;
    f.base = 1'000;
    f.watermark = 2'000;
    f.before = {1'000, 1'001, 1'300};
    f.ahead = {2'001, 2'256, UINT64_MAX};
    return f;
}

// The bytes with a checksum that fits again.
std::vector<std::byte> sealed(std::vector<std::byte> bytes) {
    bytes.resize(bytes.size() - 4);
    const std::uint32_t sum = checkpoint_fields::checksum(bytes);
    for (int b = 0; b < 32; b += 8) bytes.push_back(static_cast<std::byte>(sum >> b));
    return bytes;
}

}  // namespace

TEST_CASE("what is written down as a checkpoint is read as it was") {
    const auto bytes = some().to_bytes();
    CHECK(bytes.size() == 63 + 3 * 2 + 3 * 8);
    const auto f = checkpoint_fields::from_bytes(bytes);
    CHECK(f.order == 1);
    CHECK(f.tail == 2);
    CHECK(f.rank == 3);
    CHECK(f.world == 0x04050607);
    CHECK(f.weights == 0x08090a0b);
    CHECK(f.run == UINT32_MAX);
    CHECK(f.size == UINT64_MAX);
    CHECK(f.seed == 0x0102030405060708);
    CHECK(f.base == 1'000);
    CHECK(f.watermark == 2'000);
    CHECK(f.before == some().before);
    CHECK(f.ahead == some().ahead);
    CHECK(f.to_bytes() == bytes);
}

TEST_CASE("the numbers of a checkpoint begin with their lowest byte") {
    const auto bytes = some().to_bytes();
    CHECK(std::to_integer<int>(bytes[5]) == 0x21);
    CHECK(std::to_integer<int>(bytes[6]) == 0x82);
    CHECK(std::to_integer<int>(bytes[11]) == 0x07);
    CHECK(std::to_integer<int>(bytes[14]) == 0x04);
    CHECK(std::to_integer<int>(bytes[31]) == 0x08);
    CHECK(std::to_integer<int>(bytes[38]) == 0x01);
}

TEST_CASE("distances take as few bytes as the greatest one needs, and 8 at most") {
    checkpoint_fields f;
    CHECK(f.to_bytes().size() == 63);
    f.before = {0};
    CHECK(f.to_bytes().size() == 64);
    for (std::size_t bytes = 1; bytes <= 8; ++bytes) {
        const std::uint64_t most = UINT64_MAX >> (64 - 8 * bytes);
        f.before = {most};
        CHECK(f.to_bytes().size() == 63 + bytes);
        CHECK(checkpoint_fields::from_bytes(f.to_bytes()).before == f.before);
        f.before = {most / 2 + 1};
        CHECK(f.to_bytes().size() == 63 + bytes);
    }
}

TEST_CASE("lists that are none are refused") {
    const auto reading = [](std::vector<std::byte> bytes) {
        return checkpoint_fields::from_bytes(sealed(bytes));
    };
    const auto good = some().to_bytes();
    CHECK_NOTHROW(reading(good));
    for (const int widths : {0x00, 0x02, 0x80, 0x92, 0x89, 0x81, 0x83, 0x72, 0xff}) {
        auto bytes = good;
        bytes[6] = static_cast<std::byte>(widths);
        CAPTURE(widths);
        CHECK_THROWS_WITH(reading(bytes), ContainsSubstring("lists of positions are broken"));
    }
    for (const int number : {0, 2, 16, 255}) {
        auto bytes = good;
        bytes[55] = static_cast<std::byte>(number);
        CAPTURE(number);
        CHECK_THROWS_AS(reading(bytes), std::invalid_argument);
    }
    auto many = good;
    many[58] = std::byte{255};
    CHECK_THROWS_AS(reading(many), std::invalid_argument);
    // A distance of 0, and one that leads beyond 2^64.
    auto twice = good;
    twice[61] = twice[62] = std::byte{0};
    CHECK_THROWS_AS(reading(twice), std::invalid_argument);
    auto beyond = good;
    for (std::size_t i = 65; i < 73; ++i) beyond[i] = std::byte{255};
    CHECK_THROWS_AS(reading(beyond), std::invalid_argument);
}

TEST_CASE("bytes with a checksum that does not fit are refused") {
    auto bytes = some().to_bytes();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
        bytes[i] ^= std::byte{4};
        CHECK_THROWS_AS(checkpoint_fields::from_bytes(bytes), std::invalid_argument);
        bytes[i] ^= std::byte{4};
    }
    CHECK_NOTHROW(checkpoint_fields::from_bytes(bytes));
}
