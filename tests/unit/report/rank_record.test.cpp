#include <weir/report/rank_record.hpp>

#include "support/catch.hpp"

#include <weir/report/run_record.hpp>

#include <chrono>

using namespace std::chrono_literals;

TEST_CASE("the work of an invocation on a rank is its time at work and awaiting") {
    weir::stage_on_rank s;
    CHECK(s.work() <= 0);
    s.times.run = 30ms;
    s.times.await = 20ms;
    s.times.wait_get = 1s;
    CHECK(s.work() > 49'999'999);  // the one that has not ended
    s.num_tasks = 10;
    CHECK(s.work() > 4'999'999);
    CHECK(s.work() < 5'000'001);
}

TEST_CASE("the readiness of a queue on a rank is that of the queue") {
    weir::queue_on_rank q;
    CHECK(q.readiness() <= 0);
    q.elapsed = 4s;
    q.empty = 1s;
    CHECK(q.readiness() > 0.749);
    CHECK(q.readiness() < 0.751);
}
