#include <weir/stop_token.hpp>

bool told() {
    weir::stop_source source;
    bool called = false;
    const weir::stop_callback callback(source.get_token(), [&] { called = true; });
    source.request_stop();
    return called;
}
