#include <weir/channel/item_size.hpp>

#include "support/catch.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <thread>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

using weir::detail::byte_budget;
using weir::detail::byte_gauge;

namespace {

template <class T>
std::size_t size_of(const T& item) {
    return weir::item_size<T>::of(item);
}

struct image {
    std::size_t rows = 0;
    std::size_t stride = 0;
};

// A node of a tree that is a range of such nodes, as JSON libraries have it.
class node {
  public:
    const node* begin() const noexcept { return this; }
    const node* end() const noexcept { return this + 1; }
    std::size_t size() const noexcept { return 1; }
    node() = default;
    node(const node& other) : n_(other.n_) {}
    node& operator=(const node&) = default;

  private:
    int n_ = 0;
};

class abstract {
  public:
    virtual ~abstract() = default;
    virtual int f() const = 0;
    int member[5] = {};
};
class concrete final : public abstract {
  public:
    int f() const override { return 1; }
};

class incomplete;

}  // namespace

template <>
struct weir::item_size<image> {
    static std::size_t of(const image& i) noexcept { return i.rows * i.stride; }
};

TEST_CASE("a type without data elsewhere counts for its sizeof") {
    CHECK(size_of(1) == sizeof(int));
    CHECK(size_of(1.5) == 8);
    struct plain {
        int a[10];
    };
    CHECK(size_of(plain()) == 40);
    CHECK(size_of(static_cast<const char*>("name")) == sizeof(char*));
    CHECK(size_of(std::variant<int, double>()) == sizeof(std::variant<int, double>));
}

TEST_CASE("a range counts for its elements, whatever they are") {
    CHECK(size_of(std::vector<std::int32_t>(7)) == 28);
    CHECK(size_of(std::string("hello")) == 5);
    CHECK(size_of(std::string_view("hello")) == 5);
    CHECK(size_of(std::string()) == 0);
    CHECK(size_of(std::array<short, 4>()) == 8);
    CHECK(size_of(std::deque<double>(3)) == 24);
    CHECK(size_of(std::list<char>(3)) == 3);
    CHECK(size_of(std::set<std::string>{"a", "bcd"}) == 4);
    CHECK(size_of(std::map<int, std::string>{{1, "a"}, {2, "bcd"}}) == 2 * sizeof(int) + 4);
    CHECK(size_of(std::vector<std::string>{"a", "bc", ""}) == 3);
    CHECK(size_of(std::vector<std::vector<int>>{{1, 2}, {}, {3}}) == 3 * sizeof(int));
    CHECK(size_of(std::vector<bool>(9)) == 9);
    const int numbers[3] = {};
    CHECK(size_of(std::span<const int>(numbers)) == 12);
}

TEST_CASE("an owning pointer or optional counts for its object, and for 0 if empty") {
    CHECK(size_of(std::optional<int>(1)) == 4);
    CHECK(size_of(std::optional<int>()) == 0);
    CHECK(size_of(std::optional<std::string>("four")) == 4);
    CHECK(size_of(std::make_unique<std::vector<int>>(5)) == 20);
    CHECK(size_of(std::unique_ptr<int>()) == 0);
    CHECK(size_of(std::make_shared<std::string>("abc")) == 3);
    CHECK(size_of(std::shared_ptr<int>()) == 0);
    CHECK(size_of(std::shared_ptr<const std::string>(std::make_shared<std::string>("abc"))) == 3);
    CHECK(size_of(std::pair<std::string, int>("abc", 1)) == 3 + sizeof(int));
    CHECK(size_of(std::tuple<std::string, std::vector<char>, std::optional<int>>("abc", 4, std::nullopt)) ==
          7);
    CHECK(size_of(std::tuple<>()) == 0);
    CHECK(size_of(std::unique_ptr<abstract>(std::make_unique<concrete>())) == sizeof(abstract));
}

TEST_CASE("a pointer to an array of unknown size, void or an incomplete type counts for the pointer") {
    CHECK(size_of(std::unique_ptr<int[]>(new int[4])) == sizeof(std::unique_ptr<int[]>));
    CHECK(size_of(std::shared_ptr<int[]>(new int[4])) == sizeof(std::shared_ptr<int[]>));
    CHECK(size_of(std::shared_ptr<void>(std::make_shared<int>(1))) == sizeof(std::shared_ptr<void>));
    CHECK(size_of(std::shared_ptr<incomplete>()) == sizeof(std::shared_ptr<incomplete>));
}

TEST_CASE("a range of itself counts for its sizeof") {
    CHECK(size_of(node()) == sizeof(node));
    CHECK(size_of(std::filesystem::path("a/b")) == sizeof(std::filesystem::path));
}

TEST_CASE("a specialisation is used, also for parts of other types") {
    CHECK(size_of(image{10, 100}) == 1'000);
    CHECK(size_of(std::make_shared<image>(image{10, 100})) == 1'000);
    CHECK(size_of(std::optional<image>(image{1, 7})) == 7);
    CHECK(size_of(std::vector<image>{{1, 7}, {2, 3}}) == 13);
    CHECK(size_of(std::array<image, 2>{image{1, 7}, image{2, 3}}) == 13);
    CHECK(size_of(std::pair<int, image>(1, image{1, 7})) == 11);
}

namespace {

class told final : public byte_budget {
  public:
    using byte_budget::byte_budget;
    void wake_sources() noexcept override { ++times; }
    std::atomic<int> times{0};
};

}  // namespace

TEST_CASE("a budget is spent at its limit, and the remove that makes room again returns true") {
    told b(10);
    CHECK_FALSE(b.is_spent());
    b.add(9);
    CHECK_FALSE(b.is_spent());
    b.add(1);
    CHECK(b.is_spent());
    b.add(5);
    CHECK_FALSE(b.remove(3));
    CHECK_FALSE(b.remove(2));
    CHECK(b.is_spent());
    CHECK(b.remove(1));
    CHECK_FALSE(b.is_spent());
    CHECK_FALSE(b.remove(9));
    b.add(10);
    CHECK(b.remove(10));
    CHECK_FALSE(b.remove(0));
    CHECK(b.times == 0);  // whoever removed tells it, when nothing is locked
}

TEST_CASE("a gauge counts if it has a limit or a budget") {
    byte_gauge g;
    CHECK_FALSE(g.counts());
    g.most = 10;
    CHECK(g.counts());
    CHECK(g.has_room_for(10));
    CHECK_FALSE(g.has_room_for(11));
    g.add(4);
    CHECK(g.has_room_for(6));
    CHECK_FALSE(g.has_room_for(7));
    CHECK_FALSE(g.has_room_for(SIZE_MAX));  // no overflow
    g.add(6);
    CHECK_FALSE(g.has_room_for(0));
    CHECK(g.remove(10) == nullptr);
    CHECK(g.bytes == 0);

    g.add(6);
    g.add(0, true);
    CHECK(g.num_items == 3);

    told b(5);
    byte_gauge of_run;
    of_run.budget = &b;
    CHECK(of_run.counts());
    of_run.add(7);
    CHECK(b.is_spent());
    CHECK(of_run.remove(1) == nullptr);
    CHECK(of_run.remove(2) == &b);
    CHECK(of_run.remove(4) == nullptr);
    CHECK(of_run.bytes == 0);
}

TEST_CASE("each time that a budget has room again, exactly one remove returns true") {
    told b(1'000);
    std::atomic<std::int64_t> freed{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
        threads.emplace_back([&b, &freed, t] {
            for (int i = 0; i < 20'000; ++i) {
                const auto size = static_cast<std::size_t>(100 * t + i % 400);
                b.add(size);
                if (b.remove(size)) ++freed;
            }
        });
    }
    for (std::thread& t : threads) t.join();
    // Nothing is inside, so whenever it was spent it was freed; one more add is not enough to spend it.
    CHECK_FALSE(b.is_spent());
    b.add(999);
    CHECK_FALSE(b.is_spent());
    b.add(1);
    CHECK(b.is_spent());
    CHECK(b.remove(1'000));
}
