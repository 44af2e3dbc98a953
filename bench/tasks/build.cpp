#include "build.hpp"

#include <sstream>

namespace tasks {
namespace {

std::string compiler() {
#if defined(__clang__)
    return "clang" + std::to_string(__clang_major__);
#else
    return "g++" + std::to_string(__GNUC__);
#endif
}

// Predefined macros show the effect of the flags, as far as possible.
std::string checked_optimisation(const std::string& asked) {
#if defined(__OPTIMIZE_SIZE__)
    return asked == "Os" || asked == "Oz" ? asked : "Os";
#elif defined(__OPTIMIZE__)
    return asked.empty() ? "unknown" : asked;
#else
    return "O0";
#endif
}

build find() {
    build b{compiler(), "", "off", "generic", "off", "default", "off", BENCH_BUILD_FLAGS};
    std::istringstream flags(b.flags);
    for (std::string flag; flags >> flag;) {
        if (flag.starts_with("-O")) b.optimisation = flag == "-O" ? "O1" : flag.substr(1);
        if (flag.starts_with("-flto")) b.lto = "on";
        if (flag == "-fno-lto") b.lto = "off";
        if (flag.starts_with("-march=")) b.march = flag.substr(7);
        if (flag.starts_with("-fuse-ld=")) b.linker = flag.substr(9);
        if (flag.starts_with("-fprofile-use")) b.pgo = "on";
    }
    b.optimisation = checked_optimisation(b.optimisation);
    if (b.march == "x86-64") b.march = "generic";
#if defined(NDEBUG)
    b.ndebug = "on";
#endif
    return b;
}

}  // namespace

const build& build_of_this() {
    static const build it = find();
    return it;
}

}  // namespace tasks
