#include <weir/report/fields.hpp>

#include "support/catch.hpp"

#include <cstddef>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace {

// Becomes whatever a member is.
struct anything {
    template <class T>
    operator T() const {  // NOLINT(google-explicit-constructor)
        throw std::logic_error("nobody calls this");
    }
};

template <class T, std::size_t... I>
constexpr bool made_of(std::index_sequence<I...>) {
    return requires { T{(static_cast<void>(I), anything())...}; };
}
// How many members an aggregate has.
template <class T, std::size_t N = 0>
constexpr std::size_t members() {
    if constexpr (made_of<T>(std::make_index_sequence<N + 1>())) {
        return members<T, N + 1>();
    } else {
        return N;
    }
}

template <class T>
void check(const char* type) {
    CAPTURE(type);
    T object{};
    std::set<std::string> names;
    std::set<const void*> places;
    std::size_t listed = 0;
    weir::detail::each_field(object, [&](const char* name, auto& member) {
        ++listed;
        names.insert(name);
        places.insert(&member);
    });
    CHECK(listed == members<T>());
    CHECK(names.size() == listed);
    CHECK(places.size() == listed);
}

}  // namespace

TEST_CASE("each member of a reported type is listed once") {
    check<weir::slot_times>("slot_times");
    check<weir::channel_stats>("channel_stats");
    check<weir::transfer_stats>("transfer_stats");
    check<weir::stage_stats>("stage_stats");
    check<weir::process_stats>("process_stats");
    check<weir::first_item_stats>("first_item_stats");
    check<weir::pipeline_stats>("pipeline_stats");
    check<weir::described_stage>("described_stage");
    check<weir::described_edge>("described_edge");
    check<weir::described_branch>("described_branch");
    check<weir::pipeline_description>("pipeline_description");
    check<weir::machine_info>("machine_info");
    check<weir::build_info>("build_info");
    check<weir::run_setting>("run_setting");
    check<weir::recorded_failure>("recorded_failure");
    check<weir::run_record>("run_record");
    check<weir::stage_on_rank>("stage_on_rank");
    check<weir::queue_on_rank>("queue_on_rank");
    check<weir::rank_record>("rank_record");
}
