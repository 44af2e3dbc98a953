#include <weir/failure.hpp>

#include <string>

std::string told(const weir::pipeline_failure& f) {
    return f.stage() + ": " + f.failures().front().message();
}
