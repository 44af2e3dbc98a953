#include <weir/cuda/device.hpp>

#include "cuda/support.hpp"

#include <cstdlib>

using cuda_tests::fresh_runtime;
using weir::cuda::device;

namespace {

// The variables of launchers, as one test needs them; none of them before and after.
class rank_variables {
    static constexpr const char* names[] = {"LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                            "SLURM_LOCALID"};

  public:
    rank_variables() { clear(); }
    rank_variables(const rank_variables&) = delete;
    rank_variables& operator=(const rank_variables&) = delete;
    ~rank_variables() { clear(); }
    void set(const char* name, const char* value) const {
        clear();
        setenv(name, value, 1);
    }

  private:
    static void clear() {
        for (const char* name : names) unsetenv(name);
    }
};

}  // namespace

TEST_CASE("a process takes the device of its local rank, whichever launcher says it") {
    const fresh_runtime runtime;
    stand_in::set_device_count(4);
    const rank_variables variables;
    CHECK(device::from_environment() == device(0));
    variables.set("LOCAL_RANK", "3");
    CHECK(device::from_environment() == device(3));
    variables.set("OMPI_COMM_WORLD_LOCAL_RANK", "2");
    CHECK(device::from_environment() == device(2));
    variables.set("MPI_LOCALRANKID", "1");
    CHECK(device::from_environment() == device(1));
    variables.set("SLURM_LOCALID", "3");
    CHECK(device::from_environment() == device(3));
}

TEST_CASE("a process that was bound to one device takes that one, whatever its rank") {
    const fresh_runtime runtime;
    const rank_variables variables;
    variables.set("SLURM_LOCALID", "3");
    CHECK(device::from_environment() == device(0));
}

TEST_CASE("without a driver there are no devices, and that is no error yet") {
    stand_in::reset();
    stand_in::no_device(cudaErrorInsufficientDriver);
    CHECK(device::count() == 0);
    CHECK(cudaPeekAtLastError() == cudaSuccess);
    stand_in::reset();
    stand_in::set_device_count(2);
    CHECK(device::count() == 2);
    stand_in::reset();
}
