// Compiled by itself: names of types are compared.
#include <weir/report/describe.hpp>

#include "support/catch.hpp"

#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/stage_list.hpp>

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <tuple>
#include <typeinfo>
#include <unordered_map>
#include <utility>
#include <vector>

using namespace std::chrono_literals;
using weir::describe;
using weir::described_branch;
using weir::described_edge;
using weir::detail::are_one_type;
using weir::detail::read_type_name;
using weir::detail::tidy_type_name;
using weir::detail::type_name;
using weir::detail::type_of;

namespace animals {
struct cat {};
template <class T, int N>
struct pack {
    struct leader {};
};
class structured {};  // begins as a keyword does
}  // namespace animals

namespace {
struct hidden {};
struct base {
    virtual ~base() = default;
};
struct derived final : base {};
template <class T>
struct allocator_of_mine {};
}  // namespace

TEST_CASE("the name of a type is that of the program") {
    CHECK(type_name<int>() == "int");
    CHECK(type_name<double>() == "double");
    CHECK(type_name<animals::cat>() == "animals::cat");
    CHECK(type_name<animals::structured>() == "animals::structured");
    CHECK(type_name<animals::pack<animals::cat, 3>>() == "animals::pack<animals::cat, 3>");
    CHECK(type_name<animals::pack<int, 3>::leader>() == "animals::pack<int, 3>::leader");
    CHECK(type_name<const int*>() == "const int*");
    CHECK(type_name<int[3]>() == "int[3]");
    CHECK(type_name<std::array<char, 4>>() == "std::array<char, 4>");
    CHECK(type_name<std::pair<int, std::optional<bool>>>() == "std::pair<int, std::optional<bool>>");
}

TEST_CASE("a word that ends like a keyword stays whole") {
    for (const char before : {'_', '0', '9', 'a', 'z', 'A', 'Z'}) {
        const std::string word = std::string("a::b") + before + "class";
        CHECK(tidy_type_name(word + " *") == word + "*");
    }
    CHECK(tidy_type_name("b<class c>") == "b<c>");
}

TEST_CASE("the name of a type has std::string for it, and no default arguments") {
    CHECK(type_name<std::string>() == "std::string");
    CHECK(type_name<std::string_view>() == "std::string_view");
    CHECK(type_name<std::vector<std::vector<std::string>>>() == "std::vector<std::vector<std::string>>");
    CHECK(type_name<std::map<std::string, int>>() == "std::map<std::string, int>");
    CHECK(type_name<std::unordered_map<int, char>>() == "std::unordered_map<int, char>");
    CHECK(type_name<std::unique_ptr<animals::cat>>() == "std::unique_ptr<animals::cat>");
    CHECK(type_name<std::tuple<int, std::string>>() == "std::tuple<int, std::string>");
    CHECK(type_name<std::shared_ptr<const std::vector<float>>>() ==
          "std::shared_ptr<const std::vector<float>>");
}

TEST_CASE("the name of a type keeps arguments that are not defaults") {
    CHECK(type_name<std::map<int, int, std::greater<int>>>() == "std::map<int, int, std::greater<int>>");
    CHECK(type_name<std::vector<int, allocator_of_mine<int>>>() ==
          "std::vector<int, allocator_of_mine<int>>");
    CHECK(type_name<animals::pack<std::allocator<int>, 1>>() == "animals::pack<std::allocator<int>, 1>");
    CHECK(type_name<std::tuple<int, allocator_of_mine<int>>>() == "std::tuple<int, allocator_of_mine<int>>");
}

TEST_CASE("the name of an integer type is that of the standard") {
    CHECK(type_name<unsigned long>() == "unsigned long");
    CHECK(type_name<long>() == "long");
    CHECK(type_name<unsigned long long>() == "unsigned long long");
    CHECK(type_name<std::vector<unsigned short>>() == "std::vector<unsigned short>");
}

TEST_CASE("the name of a type leaves out unnamed namespaces") {
    CHECK(type_name<hidden>() == "hidden");
    CHECK(type_name<std::vector<hidden>>() == "std::vector<hidden>");
}

TEST_CASE("the name of a type may have functions with several parameters") {
    CHECK(type_name<std::function<int(int, std::string)>>() == "std::function<int(int, std::string)>");
}

#if defined(__cpp_rtti) || defined(_CPPRTTI)
TEST_CASE("a type known at run time has the same name") {
    const derived d;
    const base& b = d;
    CHECK(read_type_name(typeid(b).name()) == "derived");
    CHECK(read_type_name(typeid(std::vector<std::string>).name()) == "std::vector<std::string>");
    CHECK(read_type_name(typeid(std::unique_ptr<animals::cat>).name()) == "std::unique_ptr<animals::cat>");
    CHECK(read_type_name(typeid(std::pair<unsigned long, long long>).name()) ==
          "std::pair<unsigned long, long long>");
}
#endif

TEST_CASE("two objects have the same type only if both types are known to be equal") {
    const derived d, e;
    const base& b = d;
    const base another;
    CHECK(are_one_type(type_of(b), type_of(e)));
    CHECK(are_one_type(nullptr, nullptr));
#if defined(__cpp_rtti) || defined(_CPPRTTI)
    CHECK_FALSE(are_one_type(type_of(b), type_of(another)));
    CHECK_FALSE(are_one_type(type_of(b), nullptr));
    CHECK_FALSE(are_one_type(nullptr, type_of(b)));
#else
    CHECK(are_one_type(type_of(b), type_of(another)));
#endif
}

TEST_CASE("a text that is not the name of a type is read to its end") {
    CHECK(tidy_type_name("").empty());
    CHECK(tidy_type_name("a<b, std::allocator<c") == "a<b");
    CHECK(tidy_type_name("class std::vector<struct a::b,class std::allocator<struct a::b> >") ==
          "std::vector<a::b>");
}

namespace {

// With -fno-rtti nobody knows what kind of executor it is.
const char* named([[maybe_unused]] const char* known, [[maybe_unused]] const char* unknown) {
#if defined(__cpp_rtti) || defined(_CPPRTTI)
    return known;
#else
    return unknown;
#endif
}

struct image {
    int pixels = 0;
};

image download(std::string) { return {}; }

// Two inputs that come together, as a merge would be.
template <class A, class B>
struct two_inputs : weir::detail::stage_base {
    static constexpr bool begins_pipelines = true;
    using output = int;
    two_inputs(A x, B y) : a(std::move(x)), b(std::move(y)) { options.name = "both"; }

    template <class To>
    typename To::ends describe(To& to) const {
        typename To::ends inputs;
        inputs += to.branch("first", a);
        inputs += to.branch("second", b);
        return to.template stage<int, int>("merge", options, inputs);
    }

    A a;
    B b;
};

// A way for some, nothing for others, as a route would be.
template <class P>
struct fork_stage : weir::detail::stage_base {
    template <class C>
    using output = long;
    explicit fork_stage(P p) : part(std::move(p)) { options.name = "fork"; }

    template <class C, class To>
    typename To::ends describe(To& to, typename To::ends from) const {
        const auto begin = to.template stage<C, C>("fork", options, from, "by size");
        typename To::ends all;
        all += to.template branch<C>("great", part, begin);
        all += to.template branch<C>("small", weir::pipeline<weir::detail::no_stages>({}), begin);
        weir::stage_options join = options;
        join.name = "join";
        return to.template stage<long, long>("join", join, all);
    }

    P part;
};

// A kind that says no more than what it is.
struct plain_stage : weir::detail::stage_base {
    static constexpr const char* kind = "dam";
    template <class C>
    using output = C;
    std::string remark() const { return "closed"; }
};

}  // namespace

TEST_CASE("a description has the name, kind, types, slots, capacity and executor of each stage") {
    weir::blocking_pool io(1);
    const auto pipeline = weir::source(std::vector<std::string>{"a", "b"}) |
                          weir::pipe(download, {.name = "download",
                                                .concurrency = 12,
                                                .executor = &io,
                                                .output_order = weir::output_order::input,
                                                .capacity = 5,
                                                .time_limit = 2s}) |
                          weir::aggregate(8) | weir::disaggregate() |
                          weir::pipe([](image i) { return std::make_unique<image>(i); }) | weir::sink(4);
    const auto d = describe(pipeline);
    REQUIRE(d.stages.size() == 6);
    CHECK(d.stages[0].name == "src");
    CHECK(d.stages[0].kind == "source");
    CHECK(d.stages[0].takes.empty());
    CHECK(d.stages[0].gives == "std::string");
    CHECK(d.stages[0].executor.empty());
    CHECK_FALSE(d.stages[0].epochs);
    CHECK(d.stages[1].name == "download");
    CHECK(d.stages[1].kind == "pipe");
    CHECK(d.stages[1].takes == "std::string");
    CHECK(d.stages[1].gives == "image");
    CHECK(d.stages[1].concurrency == 12);
    CHECK(d.stages[1].capacity == 5);
    CHECK(d.stages[1].executor == named("weir::blocking_pool", "weir::executor"));
    CHECK(d.stages[1].output_order == weir::output_order::input);
    CHECK(d.stages[1].time_limit == 2s);
    CHECK(d.stages[2].kind == "aggregate");
    CHECK(d.stages[2].remark == "8");
    CHECK(d.stages[2].gives == "std::vector<image>");
    CHECK(d.stages[3].kind == "disaggregate");
    CHECK(d.stages[4].name == "pipe#4");
    CHECK(d.stages[4].gives == "std::unique_ptr<image>");
    CHECK(d.stages[5].kind == "sink");
    CHECK(d.stages[5].capacity == 4);
    CHECK(d.edges == std::vector<described_edge>{{0, 1, ""}, {1, 2, ""}, {2, 3, ""}, {3, 4, ""}, {4, 5, ""}});
    CHECK(d.branches.empty());
    CHECK(d == describe(pipeline));
}

TEST_CASE("a description can be printed") {
    std::ostringstream out;
    auto d = describe(weir::source({1, 2}) | weir::sink());
    for (auto& stage : d.stages) {
        CHECK(stage.where.starts_with("describe.test.cpp:"));
        stage.where = "x.cpp:7";
    }
    out << d;
    CHECK(out.str() == R"(stage  kind    slots  queue  executor  items       composed at
src    source      1      2  -         -> int      x.cpp:7
sink   sink        1     32  -         int -> int  x.cpp:7

queue: its capacity, behind the stage; executor -: where the run is started
)");
}

TEST_CASE("a description numbers the executors of one type if there are several") {
    weir::blocking_pool disk(1), network(1);
    weir::thread_pool pool(1);
    const auto on = [](weir::executor& ex) { return weir::pipe([](int n) { return n; }, {.executor = &ex}); };
    const auto d = describe(weir::source({1}) | on(disk) | on(pool) | on(network) | on(disk));
    CHECK(d.stages[1].executor == named("weir::blocking_pool 1", "weir::executor 1"));
    CHECK(d.stages[2].executor == named("weir::thread_pool", "weir::executor 2"));
    CHECK(d.stages[3].executor == named("weir::blocking_pool 2", "weir::executor 3"));
    CHECK(d.stages[4].executor == named("weir::blocking_pool 1", "weir::executor 1"));
}

TEST_CASE("a description says when an aggregate completes a batch") {
    const auto d =
        describe(weir::source({1}) | weir::aggregate(4, {.drop_last = true, .max_delay = 20ms}) |
                 weir::aggregate_by_weight(100, [](const auto&) { return 1U; }) | weir::aggregate_for(1s));
    CHECK(d.stages[1].remark == "4, within 20.0 ms, full only");
    CHECK(d.stages[2].remark == "weight 100");
    CHECK(d.stages[3].remark == "within 1.0 s");
}

TEST_CASE("a description of a source with epochs shows the item type, and mentions the epochs") {
    const auto d = describe(weir::source(weir::epochs(std::vector<int>{1, 2}, 3)) | weir::aggregate(2));
    CHECK(d.stages[0].gives == "int");
    CHECK(d.stages[0].epochs);
    CHECK(d.stages[1].gives == "std::vector<int>");
}

TEST_CASE("a description of a part needs the type of its items") {
    const auto d = describe<int>(weir::pipe([](auto n) { return n; }) | weir::aggregate(2));
    CHECK(d.stages[0].takes == "int");
    CHECK(d.stages[1].gives == "std::vector<int>");
    CHECK(d.edges == std::vector<described_edge>{{0, 1, ""}});
    CHECK(describe<std::string>(weir::disaggregate()  // one stage is a part, too
                                )
              .stages.size() == 1);
}

TEST_CASE("a description has each stage of a list") {
    weir::stage_list<int> list;
    list.add(weir::pipe([](int n) { return n; }, {.name = "a", .concurrency = 3}));
    list.add(weir::pipe([](int n) { return n; }, {.name = "b"}));
    const auto d = describe(weir::source({1}) | list | weir::sink());
    REQUIRE(d.stages.size() == 4);
    CHECK(d.stages[1].name == "a");
    CHECK(d.stages[1].concurrency == 3);
    CHECK(d.stages[2].name == "b");
    CHECK(d.stages[2].gives == "int");
    CHECK(d.edges == std::vector<described_edge>{{0, 1, ""}, {1, 2, ""}, {2, 3, ""}});
    CHECK(describe(weir::source({1}) | weir::stage_list<int>() | weir::sink()).stages.size() == 2);
}

TEST_CASE("a description shows the pipelines inside of a stage that begins with several") {
    const auto tens = weir::source({10}) | weir::pipe([](int n) { return n; }, {.name = "ten"});
    using one = decltype(weir::source({1}));
    using ten = std::remove_cv_t<decltype(tens)>;
    const two_inputs<one, ten> both(weir::source({1}), tens);
    const auto d = describe(both | weir::sink());
    REQUIRE(d.stages.size() == 5);
    CHECK(d.stages[3].name == "both");
    CHECK(d.stages[3].kind == "merge");
    CHECK(d.stages[2].depth == 1);
    CHECK(d.stages[3].depth == 0);
    CHECK(d.branches == std::vector<described_branch>{{"first", 0, 0, 1}, {"second", 0, 1, 3}});
    CHECK(d.edges == std::vector<described_edge>{{1, 2, ""}, {0, 3, ""}, {2, 3, ""}, {3, 4, ""}});
}

TEST_CASE("a description shows the branches inside of a stage, however deep") {
    const auto twice = weir::pipe([](int n) { return 2L * n; }, {.name = "twice"});
    const fork_stage<std::remove_cv_t<decltype(twice)>> inner(twice);
    const auto d =
        describe(weir::source({1}) | fork_stage<std::remove_cv_t<decltype(inner)>>(inner) | weir::sink());
    REQUIRE(d.stages.size() == 7);
    CHECK(d.stages[1].remark == "by size");
    CHECK(d.stages[3].name == "twice");
    CHECK(d.stages[3].depth == 2);
    CHECK(d.branches == std::vector<described_branch>{
                            {"great", 0, 2, 5}, {"great", 1, 3, 4}, {"small", 1, 4, 4}, {"small", 0, 5, 5}});
    CHECK(d.edges == std::vector<described_edge>{{0, 1, ""},
                                                 {1, 2, "great"},
                                                 {2, 3, "great"},
                                                 {3, 4, ""},
                                                 {2, 4, "small"},
                                                 {4, 5, ""},
                                                 {1, 5, "small"},
                                                 {5, 6, ""}});
}

TEST_CASE("a description uses the kind and the remark that a stage declares") {
    plain_stage dam;
    dam.options.name = "dam 1";
    const auto d = describe(weir::source({1}) | dam);
    CHECK(d.stages[1].kind == "dam");
    CHECK(d.stages[1].remark == "closed");
    CHECK(d.stages[1].takes == "int");
}

TEST_CASE("a for_each at the end has no output queue and no output type") {
    const auto p = weir::source({1, 2}) |
                   weir::for_each([](int) {}, {.name = "write", .concurrency = 2, .time_limit = 1s});
    const auto d = weir::describe(p);
    REQUIRE(d.stages.size() == 2);
    CHECK(d.stages[1].kind == "for_each");
    CHECK(d.stages[1].takes == "int");
    CHECK(d.stages[1].gives.empty());
    CHECK(d.stages[1].capacity == 0);
    CHECK(weir::structure_text(d) ==
          "stage  kind      slots  queue  executor  items               composed at\n"
          "src    source        1      2  -         -> int              describe.test.cpp:370\n"
          "write  for_each      2      -  -         int, at most 1.0 s  describe.test.cpp:371\n"
          "\n"
          "queue: its capacity, behind the stage; executor -: where the run is started\n");
}
