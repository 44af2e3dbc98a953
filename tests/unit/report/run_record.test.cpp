#include <weir/report/run_record.hpp>

#include "support/catch.hpp"

TEST_CASE("a record says on which machine, and by which compiler") {
    const weir::machine_info machine = weir::this_machine();
    CHECK(machine == weir::this_machine());
#if defined(__linux__)
    CHECK(machine.system.find("Linux ") == 0);
    CHECK(machine.processors >= 1);
    CHECK(machine.memory > 1'000'000);
#endif
    const weir::build_info build = weir::this_build();
    CHECK_FALSE(build.compiler.empty());
    CHECK_FALSE(build.library.empty());
    CHECK(build.weir.find('.') != std::string::npos);
}
