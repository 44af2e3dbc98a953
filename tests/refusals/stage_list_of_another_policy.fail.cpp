// expect-error: weir: a stage_list runs with the policies that it was made for
// A list is compiled for certain policies, as its stages are chosen at run time.
// SPDX-License-Identifier: BSL-1.0
#include <weir/executor/virtual_time.hpp>
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>
#include <weir/stages/stage_list.hpp>

#include <ranges>

int main() {
    weir::stage_list<int, weir::policies<weir::unmeasured>> list;
    list.add(weir::pipe([](int n) { return n + 1; }));
    weir::virtual_time time;
    auto run = (weir::source(std::views::iota(0, 3)) | list | weir::sink()).start(time);
}
