#include <weir/platform/system_output.hpp>

#include "support/catch.hpp"
#include "support/pipe.hpp"

#include <cerrno>
#include <csignal>

namespace d = weir::detail;

TEST_CASE("a pipe that nobody reads any more is an error, and no signal, now or later") {
    int ends[2];
    REQUIRE(pipes::open_pipe(ends));
    close(ends[0]);
    errno = 0;
    CHECK(d::write_output(ends[1], "x", 1) == -1);
    CHECK_FALSE(d::write_whole(ends[1], "x"));
#if defined(_WIN32)
    CHECK(errno == EINVAL);  // as its library says it
#else
    CHECK(errno == EPIPE);
    sigset_t pending;
    sigpending(&pending);
    CHECK(sigismember(&pending, SIGPIPE) == 0);
#endif
    close(ends[1]);
}
