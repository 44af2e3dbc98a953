#include "lab/driver/process.hpp"

#include "lab/folders.hpp"
#include "support/catch.hpp"

#include <signal.h>

#include <chrono>
#include <string>
#include <thread>

namespace {

using lab::process_end;

lab::process_result run(const lab_tests::temporary_folder& folder, const std::string& script,
                        double limit = 0, std::size_t most = 1 << 20) {
    lab::process_options options;
    options.command = {"sh", "-c", script};
    options.environment = {{"LAB_TEST", "set"}, {"HOME", ""}};
    options.stdout_file = folder / "out";
    options.stderr_file = folder / "err";
    options.limit_s = limit;
    options.most_output = most;
    return lab::run_process(options);
}

// Gone, or dead and waiting for whoever is to collect it.
bool is_dead(const std::string& process) {
    for (int tries = 0; tries < 1000; ++tries) {
        const std::string state = lab_tests::text_of("/proc/" + process + "/stat");
        if (state.empty() || state.find(") Z") != std::string::npos) return true;
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return false;
}
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

}  // namespace

TEST_CASE("process: exit status and signal are kept apart, and both outputs") {
    const lab_tests::temporary_folder folder;
    const auto exited = run(folder, "echo out; echo err >&2; exit 137");
    CHECK(exited.end == process_end::exited);
    CHECK(exited.code == 137);
    CHECK(lab_tests::text_of(folder / "out") == "out\n");
    CHECK(lab_tests::text_of(folder / "err") == "err\n");
    const auto signalled = run(folder, "kill -SEGV $$");
    CHECK(signalled.end == process_end::signalled);
    CHECK(lab::signal_name(signalled.code) == "SIGSEGV");
    CHECK(signalled.ended >= signalled.started);
    CHECK(signalled.duration_s >= 0);
}

TEST_CASE("process: standard input is empty, variables are set and taken away") {
    const lab_tests::temporary_folder folder;
    CHECK(run(folder, "cat; echo $LAB_TEST; echo ${HOME-none}").code == 0);
    CHECK(lab_tests::text_of(folder / "out") == "set\nnone\n");
}

TEST_CASE("process: a program that isn't there is named, and no exit status") {
    const lab_tests::temporary_folder folder;
    lab::process_options options;
    options.command = {"/nowhere/program"};
    options.stdout_file = folder / "out";
    options.stderr_file = folder / "err";
    const auto result = lab::run_process(options);
    CHECK(result.end == process_end::not_started);
    CHECK(result.message == "/nowhere/program: No such file or directory");
    options.command = {};
    CHECK(lab::run_process(options).end == process_end::not_started);
    options.stdout_file = folder / "no/folder/out";
    options.command = {"true"};
    CHECK_THROWS_AS(lab::run_process(options), std::system_error);
}

TEST_CASE("process: at the limit it is killed with all that it started, even if it won't hear of it") {
    const lab_tests::temporary_folder folder;
    const auto result = run(folder, "trap '' TERM; sleep 1000 & echo $!; wait; sleep 1000", 0.1);
    CHECK(result.end == process_end::timed_out);
    CHECK(is_dead(first_line(lab_tests::text_of(folder / "out"))));
}

TEST_CASE("process: what it leaves running is killed when it ends") {
    const lab_tests::temporary_folder folder;
    const auto result = run(folder, "sleep 1000 & echo $!");
    CHECK(result.end == process_end::exited);
    CHECK(is_dead(first_line(lab_tests::text_of(folder / "out"))));
    // A session of its own, and no parent.
    run(folder,
        "setsid sh -c 'echo $$; exec sleep 1000' & while ! [ -s " + (folder / "out") + " ]; do :; done");
    CHECK(is_dead(first_line(lab_tests::text_of(folder / "out"))));
}

TEST_CASE("process: one that writes without end is ended") {
    const lab_tests::temporary_folder folder;
    CHECK(run(folder, "yes").end == process_end::too_much_output);
    CHECK(run(folder, "yes >&2").end == process_end::too_much_output);
}

TEST_CASE("process: a stop ends it") {
    const lab_tests::temporary_folder folder;
    volatile std::sig_atomic_t stop = 1;
    lab::process_options options;
    options.command = {"sleep", "1000"};
    options.stdout_file = folder / "out";
    options.stderr_file = folder / "err";
    options.stop = &stop;
    CHECK(lab::run_process(options).end == process_end::stopped);
}

TEST_CASE("process: what it used is its own, and not that of others before") {
    const lab_tests::temporary_folder folder;
    const auto busy = run(folder, "i=0; while [ $i -lt 200000 ]; do i=$((i + 1)); done");
    const auto idle = run(folder, "true");
    CHECK(busy.user_s + busy.system_s > idle.user_s + idle.system_s);
    CHECK(idle.peak_kb > 0);
    CHECK(idle.minor_faults > 0);
}
