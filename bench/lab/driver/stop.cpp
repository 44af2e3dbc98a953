// lab driver: signal handlers that record a signal
#include "lab/driver/stop.hpp"

#include <initializer_list>

namespace lab {

volatile std::sig_atomic_t stop_signal = 0;

void stop_on_signals() {
    for (const int signal : {SIGINT, SIGTERM, SIGHUP})
        std::signal(signal, [](int number) { stop_signal = number; });
}

}  // namespace lab
