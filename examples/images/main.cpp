// images: turns a directory of photographs into batches for a network, and says where the time went.
// The pipeline itself is in loader.hpp.
// SPDX-License-Identifier: BSL-1.0
#include "../common/interrupt.hpp"
#include "../common/output.hpp"
#include "loader.hpp"
#include "options.hpp"
#include "photo.hpp"
#include "report.hpp"

#include <weir/executor/blocking_pool.hpp>
#include <weir/executor/thread_pool.hpp>
#include <weir/report/live_view.hpp>
#include <weir/report/log.hpp>
#include <weir/report/table.hpp>

// The build defines this macro if it finds the CUDA toolkit.
#ifdef IMAGES_ON_GPU
#include "gpu.hpp"
using destination = images::gpu;
#else
#include "host.hpp"
using destination = images::host;
#endif

#include <chrono>     // for std::chrono::milliseconds
#include <exception>  // for std::exception
#include <iostream>   // for std::cout, std::cerr
#include <memory>     // for std::make_shared
#include <sstream>    // for std::ostringstream
#include <string>     // for std::string
#include <vector>     // for std::vector

namespace {

int run_images(const images::settings& s) {
    const std::vector<std::string> paths = images::find_photos(s.directory);
    destination there(s);
    std::cerr << paths.size() << " photographs, " << s.epochs << " times, to " << there.name() << " ..."
              << std::endl;

    weir::thread_pool workers(static_cast<unsigned>(s.threads));
    weir::blocking_pool readers(static_cast<unsigned>(s.readers));
    const auto loader = there.behind(images::make_loader(paths, s, readers, there.blocks()));

    // The loader tolerates broken files; the report at the end names each.
    std::ostringstream broken;
    const weir::failure_log log(broken, {.first = 1});
    const auto view = std::make_shared<weir::live_view>(
        weir::live_view_options{.total = paths.size() * static_cast<std::size_t>(s.epochs),
                                .counted = "list"});
    auto run = loader.start(workers, {.on_failure = log,
                                      .lap = std::chrono::milliseconds(250),
                                      .reports = {view},
                                      .stop = examples::stop_request()});

    images::learned network;
    for (auto& batch : run) {
        network.add(there.take(batch), static_cast<std::size_t>(s.side));
        examples::be_busy(std::chrono::milliseconds(s.train_ms));  // stands for a larger network
    }
    run.stop();

    const weir::pipeline_stats stats = run.stats();
    std::cout << stats << '\n';
    images::report(std::cout, network, stats);
    log.summary();
    if (log.count() > 0) std::cout << log.count() << " failed:\n" << broken.str();
    return examples::status_of_run(network.images > 0 ? 0 : 1);
}

}  // namespace

int main(int argc, char** argv) {
    images::settings s;
    if (const auto status = images::parse(s, argc, argv)) return *status;
    static_cast<void>(examples::stop_request());
    try {
        return examples::exit_status(run_images(s), "images");
    } catch (const std::exception& e) {
        std::cerr << "images: " << e.what() << '\n';
        return 1;
    }
}
