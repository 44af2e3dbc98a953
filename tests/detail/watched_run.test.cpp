#include <weir/detail/watched_run.hpp>

#include "support/catch.hpp"

#include <vector>

using weir::detail::run_seen;
using weir::detail::watched_run;
using weir::detail::watched_runs;

namespace {

class fake final : public watched_run {
  public:
    void look(run_seen& seen, bool states) const override { seen.has_failed = states; }
};

std::vector<const watched_run*> all_of(watched_runs& runs) {
    std::vector<const watched_run*> all;
    watched_runs::reader(runs).each([&](const watched_run& r) { all.push_back(&r); });
    return all;
}

}  // namespace

TEST_CASE("the latest run comes first, and each can go from wherever it is") {
    for (int goes = 0; goes < 3; ++goes) {
        CAPTURE(goes);
        watched_runs runs;
        fake each[3];
        for (fake& f : each) runs.add(f);
        CHECK(all_of(runs) == std::vector<const watched_run*>{&each[2], &each[1], &each[0]});
        runs.remove(each[goes]);
        std::vector<const watched_run*> left{&each[2], &each[1], &each[0]};
        left.erase(left.begin() + (2 - goes));
        CHECK(all_of(runs) == left);
        runs.remove(each[goes]);  // it is not here any more
        CHECK(all_of(runs) == left);
        runs.add(each[goes]);
        CHECK(all_of(runs).front() == &each[goes]);
    }
}
