// expect-error: weir: a stage_list runs with the policies that it was made for
// A list is compiled for certain policies, as its stages are chosen at run time.
// SPDX-License-Identifier: BSL-1.0
#include <weir/pipe.hpp>
#include <weir/pipeline.hpp>
#include <weir/sink.hpp>
#include <weir/source.hpp>
#include <weir/stage_list.hpp>
#include <weir/virtual_time.hpp>

#include <ranges>

int main() {
    weir::stage_list<int, weir::policies<weir::unmeasured>> list;
    list.add(weir::pipe([](int n) { return n + 1; }));
    weir::virtual_time time;
    auto run = (weir::source(std::views::iota(0, 3)) | list | weir::sink()).start(time);
}
