// Awaited copies to a GPU: their rate, the time until a coroutine resumes after their end, the share that is hidden behind
// work on the device, and the behaviour when the device breaks.
//
//     bench/run cuda [--break-device] [--json] [--quick] [PART OF A TITLE]
#include "common/harness.hpp"
#include "measure.hpp"
#include "parts.hpp"

#include <cuda_runtime_api.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

namespace {

std::string version(int number) {
    return std::to_string(number / 1000) + "." + std::to_string(number % 1000 / 10);
}

std::string about_device() {
    cudaDeviceProp device{};
    int driver = 0;
    int runtime = 0;
    bench_cuda::must(cudaGetDeviceProperties(&device, 0), "cudaGetDeviceProperties");
    bench_cuda::must(cudaDriverGetVersion(&driver), "cudaDriverGetVersion");
    bench_cuda::must(cudaRuntimeGetVersion(&runtime), "cudaRuntimeGetVersion");
    return std::string(device.name) + ", " + std::to_string(device.asyncEngineCount) +
           " copy engines, driver " + version(driver) + ", runtime " + version(runtime);
}

}  // namespace

int main(int argc, char** argv) {
    bool break_device = false;
    std::vector<char*> others;
    for (int i = 0; i < argc; ++i) {
        if (std::string_view(argv[i]) == "--break-device") {
            break_device = true;
        } else {
            others.push_back(argv[i]);
        }
    }
    bench::session session("cuda", static_cast<int>(others.size()), others.data());

    int devices = 0;
    const cudaError_t code = cudaGetDeviceCount(&devices);
    if (code != cudaSuccess || devices == 0) {
        bench_cuda::note(session, std::string("Nothing was measured: there is no CUDA device here (") +
                                      cudaGetErrorString(code) + ").");
        return 77;
    }

    int failed = 0;
    const auto run = [&](const char* what, auto part) {
        try {
            part();
        } catch (const std::exception& e) {
            std::fflush(stdout);
            std::fprintf(stderr, "cuda: %s: it ended with an error: %s\n", what, e.what());
            ++failed;
        }
    };
    run("device", [&] { bench_cuda::note(session, about_device()); });
    run("calls", [&] { bench_cuda::calls(session); });
    run("copies", [&] { bench_cuda::copies(session); });
    run("pieces", [&] { bench_cuda::pieces(session); });
    run("latency", [&] { bench_cuda::latency(session); });
    run("overlap", [&] { bench_cuda::overlap(session); });
    if (break_device) run("broken device", [&] { bench_cuda::broken_device(session); });
    return failed == 0 ? 0 : 1;
}
