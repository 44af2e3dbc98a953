// Shows a pipeline with several inputs and branches. `merge` takes letters by land only if there is none
// by air; `route` sends each letter into one of two branches, and joins the branches again.
#include <weir/executor/thread_pool.hpp>
#include <weir/graph/merge.hpp>
#include <weir/graph/route.hpp>
#include <weir/report/describe.hpp>
#include <weir/report/structure.hpp>
#include <weir/stages/pipeline.hpp>

#include <iostream>
#include <string>

namespace {

struct letter {
    std::string text;
    bool abroad;
};

letter stamp(letter l) { return {l.text + ", stamped", l.abroad}; }
letter to_customs(letter l) { return {l.text + ", declared", l.abroad}; }
bool goes_abroad(const letter& l) { return l.abroad; }

}  // namespace

int main() {
    const auto by_air = weir::source({letter{"to Lima", true}, letter{"to Oslo", true}}, {.name = "air"});
    const auto by_land = weir::source({letter{"to Bonn", false}, letter{"to Rome", true}}, {.name = "land"});

    // clang-format off
    auto post = weir::merge({.order = weir::merge_order::priority}, by_air, by_land)
              | weir::pipe(stamp, {.name = "stamp", .concurrency = 2})
              | weir::route([](const letter& l) { return goes_abroad(l) ? "abroad" : "home"; },
                            weir::branch("abroad", weir::pipe(to_customs, {.name = "customs"})),
                            weir::branch("home"))
              | weir::sink();
    // clang-format on

    std::cout << weir::mermaid(weir::describe(post)) << '\n';  // paste it into any Markdown page

    weir::thread_pool pool(2);
    auto run = post.start(pool);
    int letters = 0;
    for (const letter& each : run) {
        std::cout << each.text << '\n';
        ++letters;
    }
    return letters == 4 ? 0 : 1;
}
