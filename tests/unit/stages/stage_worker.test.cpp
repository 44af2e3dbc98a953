#include <weir/stages/stage_worker.hpp>

#include "support/catch.hpp"
#include "support/items.hpp"

#include <weir/executor/virtual_time.hpp>
#include <weir/stages/epochs.hpp>
#include <weir/stages/pipeline.hpp>

#include <cstddef>
#include <stdexcept>
#include <utility>
#include <vector>

using items::take_all;
using weir::virtual_time;
using ints = std::vector<int>;

namespace {

using namespace weir;
using namespace weir::detail;

// What the contributors' page shows, word by word.
// Gives every n-th item; the others are dropped.
template <class C, class Policy>
class running_thin : public stage_kind<C, C, Policy> {
    using base = stage_kind<C, C, Policy>;

  public:
    using iteration = typename base::template iteration_with<>;
    static constexpr stage_traits traits{.forwards_item = true};

    running_thin(run_context& run, const stage_options& options, std::size_t n, channel<C, Policy>& in,
                 channel<C, Policy>& out)
        : base(run, "thin", options, &in, &out), n_(n) {}

    C* next_result(iteration& it) noexcept {
        if (it.place.mark || this->number_of(it.place) % n_ == 0) return it.item;
        base::item_traits::provenance_of(*it.item).acknowledge();  // for a checkpoint it is taken
        return nullptr;
    }

  private:
    std::size_t n_;
};

struct thin_stage : stage_base {
    explicit thin_stage(std::size_t n) : every(n) { options.name = "thin"; }

    template <class C>
    using output = C;

    template <class Self, class Policy, class C>
    static channel<C, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        return run.template append<stage_of<running_thin<C, Policy>>>(self.options, in, self.every);
    }

    std::size_t every;
};
// The end of what the page shows.

// Counts the calls of `recall_idle`.
template <class C, class Policy>
class running_resized : public stage_kind<C, C, Policy> {
    using base = stage_kind<C, C, Policy>;

  public:
    using iteration = typename base::template iteration_with<>;
    static constexpr stage_traits traits{.forwards_item = true};

    running_resized(run_context& run, const stage_options& options, int& calls, channel<C, Policy>& in,
                    channel<C, Policy>& out)
        : base(run, "resized", options, &in, &out), calls_(calls) {}

    C* next_result(iteration& it) noexcept { return it.item; }
    void recall_idle() noexcept { ++calls_; }
    bool is_resizable() const noexcept override { return true; }

  private:
    int& calls_;
};

struct resized_stage : stage_base {
    explicit resized_stage(int& n) : calls(&n) {
        options.name = "resized";
        options.concurrency = 8;
    }

    template <class C>
    using output = C;

    template <class Self, class Policy, class C>
    static channel<C, Policy>& attach(Self&& self, run_core<Policy>& run, channel<C, Policy>& in) {
        return run.template append<stage_of<running_resized<C, Policy>>>(self.options, in, *self.calls);
    }

    int* calls;
};

}  // namespace

TEST_CASE(
    "a new kind of stage says what it does with an item, and is measured, paused and counted as all are") {
    virtual_time time;
    auto run = (weir::source({0, 1, 2, 3, 4, 5, 6}) | thin_stage(3) | weir::sink()).start(time);
    CHECK(take_all(run) == ints{0, 3, 6});
    const weir::stage_stats& thin = run.stats().stages[1];
    CHECK(thin.name == "thin");
    CHECK(thin.num_tasks == 7);
}

TEST_CASE("its items are numbered without the marks of epochs, which pass") {
    virtual_time time;
    auto run = (weir::source(weir::epochs(ints{1, 2, 3}, 3)) | thin_stage(2) | weir::sink()).start(time);
    std::vector<ints> epochs;
    for (auto& epoch : run.epochs()) {
        epochs.emplace_back();
        for (const int item : epoch) epochs.back().push_back(item);
    }
    CHECK(epochs == std::vector<ints>{{1, 3}, {2}, {1, 3}});
}

TEST_CASE("hooks hear of each invocation of a new kind") {
    class counting : public weir::hook {
      public:
        void before(const weir::invocation& call) override {
            if (call.stage() == "thin") numbers.push_back(static_cast<int>(call.item()));
        }
        ints numbers;
    };
    const auto heard = std::make_shared<counting>();
    weir::run_options options;
    options.hooks.emplace_back(heard);
    virtual_time time;
    auto run = (weir::source({7, 8, 9}) | thin_stage(1) | weir::sink()).start(time, std::move(options));
    CHECK(take_all(run) == ints{7, 8, 9});
    CHECK(heard->numbers == ints{0, 1, 2});
}

TEST_CASE("a change of the concurrency ends all waits of slots that leave service together") {
    virtual_time time;
    int calls = 0;
    auto run = (weir::source({1, 2, 3}) | resized_stage(calls) | weir::sink()).start(time);
    run.set_concurrency("resized", 2);
    CHECK(calls == 1);
    run.set_concurrency("resized", 5);
    CHECK(calls == 1);
    CHECK(take_all(run).size() == 3);
}
