#include <weir/report/failure_log.hpp>

#include <iostream>

void note(const weir::failure& f) {
    const weir::failure_log log(std::clog, {.first = 1, .every = 10});
    log(f);
    log.summary();
}
