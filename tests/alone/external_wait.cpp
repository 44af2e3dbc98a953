#include <weir/external_wait.hpp>

void ask(void (*driver)()) {
    const weir::external_wait promised;
    driver();
}
