// The real headers of Qt, X11, curses and the system, before any other, then each header of the library that has users.
// Not Qt after X11: Qt itself does not compile then.
// SPDX-License-Identifier: BSL-1.0
#include <QtCore/QObject>
#include <QtCore/QString>

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <X11/keysym.h>
#include <curses.h>
#include <strings.h>
#include <sys/param.h>
#include <sys/sysmacros.h>
#include <termios.h>

#include <weir/report.hpp>
#include <weir/simulation.hpp>
#include <weir/weir.hpp>
#if __has_include(<asio.hpp>)
#include <weir/asio.hpp>
#endif

#include <ranges>

#if !defined(slots) || !defined(emit) || !defined(Status) || !defined(None)
#error "the macros that this test is about are not there"
#endif

int main() {
    weir::thread_pool pool(2);
    auto run =
        (weir::source(std::views::iota(0, 100)) | weir::pipe([](int i) { return 2 * i; }) | weir::sink(4))
            .start(pool);
    int sum = 0;
    for (const int i : run) sum += i;
    return sum == 9900 && run.stats().stages.at(1).per_slot.size() == 1 ? 0 : 1;
}
