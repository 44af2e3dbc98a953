// expect-error: weir: a stage's function has a destructor that may throw
// Functions are destroyed at the end of a run, where nobody waits for exceptions.
// SPDX-License-Identifier: BSL-1.0
#include <weir/stages/pipe.hpp>
#include <weir/stages/pipeline.hpp>
#include <weir/stages/sink.hpp>
#include <weir/stages/source.hpp>

struct commits_at_its_end {
    ~commits_at_its_end() noexcept(false);
    int operator()(int packet);
};

void run(weir::executor& on) {
    auto all = (weir::source({1}) | weir::pipe(commits_at_its_end()) | weir::sink()).start(on);
}

int main() {}
