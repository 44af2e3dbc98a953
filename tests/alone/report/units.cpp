#include <weir/report/units.hpp>

#include <string>

std::string speed(double bytes, weir::duration d) {
    return weir::units::rate(bytes) + " in " + weir::units::time(d);
}
