// lab driver: requests to stop, by signals
#ifndef LAB_DRIVER_STOP_HPP
#define LAB_DRIVER_STOP_HPP

#include <csignal>

namespace lab {

// 0; after stop_on_signals() the number of the received signal: SIGINT, SIGTERM or SIGHUP.
extern volatile std::sig_atomic_t stop_signal;
void stop_on_signals();

}  // namespace lab

#endif
