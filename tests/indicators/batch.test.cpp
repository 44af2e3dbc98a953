#include "indicators/runner/batch.hpp"

#include "indicators/documents.hpp"
#include "indicators/machine/machine.hpp"
#include "lab/folders.hpp"

#include "support/catch.hpp"

#include <sys/stat.h>

#include <filesystem>
#include <string>

namespace {

using namespace indicator_tests;

json run(const std::string& script, indicators::batch_options options = {}) {
    options.command = {"sh", "-c", script};
    if (options.limit_s == 600) options.limit_s = 60;
    return indicators::batch(std::move(options)).run(0);
}
std::string status_of(const json& document) { return judged(document, speed_models()).status; }
std::string printing(const json& printed) { return "printf '%s' '" + printed.dump() + "'; "; }

}  // namespace

TEST_CASE("a run becomes a document with all that is known of it") {
    indicators::batch_options options;
    options.command = {"sh", "-c", printing(speed(2)) + "echo text >&2; exit 0"};
    options.environment = {{"INDICATOR_TEST", "set"}};
    options.size = 2;
    indicators::batch runs(options);
    const json first = runs.run(0);
    const json second = runs.run(1);
    CHECK(first["indicator_result"] == 1);
    CHECK(first["batch"] == json{{"id", runs.id()}, {"place", 0}, {"size", 2}});
    CHECK(first["id"] == runs.id() + ".0");
    CHECK(second["id"] == runs.id() + ".1");
    CHECK(first["stdout"] == speed(2));
    CHECK(first["stderr"] == "text\n");
    CHECK(first["end"] == "exited");
    CHECK(first["exit_code"] == 0);
    CHECK(first["signal"].is_null());
    CHECK(first["environment"]["set"] == json{{"INDICATOR_TEST", "set"}});
    CHECK(first["usage"]["ru_maxrss"].get<int>() > 0);
    CHECK(first["duration_s"].get<double>() > 0);
    CHECK(first["start_datetime"].get<std::string>() <= first["end_datetime"].get<std::string>());
    CHECK(first["end_datetime"].get<std::string>() <= second["start_datetime"].get<std::string>());
    CHECK(first["machine"]["cores_allowed"].get<int>() > 0);
    CHECK(first["files"][0]["sha256"].get<std::string>().size() == 64);
    CHECK(first["script_sha256"] == first["files"][0]["sha256"]);
    CHECK(first["stack"].contains("kernel"));
    CHECK(status_of(first) == "accepted");
    CHECK(indicators::batch(options).id() != runs.id());
}

TEST_CASE("whatever a program does, its document says so") {
    json document = run(printing(speed(2)) + "exit 3");
    CHECK(document["exit_code"] == 3);
    CHECK(document["signal"].is_null());
    CHECK(document["stdout"] == speed(2));
    CHECK(status_of(document) == "failed");

    document = run(printing(speed(2)) + "kill -SEGV $$");
    CHECK(document["exit_code"].is_null());
    CHECK(document["signal"] == "SIGSEGV");
    CHECK(status_of(document) == "failed");

    document = run("printf 'a\\377b'; printf '\\376' >&2");
    CHECK(document["stdout"].is_null());
    CHECK(document["stdout_base64"] == "Yf9i");
    CHECK(document["stderr_base64"] == "/g==");
    CHECK(status_of(document) == "refused");

    document = run("echo hello; echo '{}'");
    CHECK(document["stdout"] == "hello\n{}\n");
    CHECK(status_of(document) == "refused");

    document = run("true");
    CHECK(document["stdout"] == "");
    CHECK(status_of(document) == "refused");

    document = run("cat; echo \"$?\"");  // standard input has nothing
    CHECK(document["stdout"] == "0\n");
}

TEST_CASE("what doesn't end, or prints without an end, is ended, with all that it started") {
    indicators::batch_options options;
    options.limit_s = 0.2;
    json document = run("sleep 1000 & sleep 1000", options);
    CHECK(document["end"] == "timed_out");
    CHECK(document["exit_code"].is_null());
    CHECK(status_of(document) == "failed");

    options.limit_s = 60;
    options.most_output = 1000;
    document = run("while :; do echo yyyyyyyyyyyyyyyyyyyyyyy; done", options);
    CHECK(document["end"] == "too_much_output");
    CHECK(document["stdout"].get<std::string>().size() == 1000);

    // Also where the program has ended before anybody looked.
    document = run("head -c 5000 /dev/zero | tr '\\0' x", options);
    CHECK(document["end"] == "too_much_output");
    CHECK(document["stdout"].get<std::string>().size() == 1000);

    volatile std::sig_atomic_t stop = 1;
    options.stop = &stop;
    document = run("sleep 1000", options);
    CHECK(document["end"] == "stopped");
}

TEST_CASE("what can't be started has a document that says why") {
    const lab_tests::temporary_folder folder;
    lab_tests::write_text(folder / "script", "#!/bin/sh\n");
    for (const std::string& program : {folder / "none", folder / "", folder / "script"}) {
        indicators::batch_options options;
        options.command = {program};
        const json document = indicators::batch(options).run(0);
        CHECK(document["end"] == "not_started");
        CHECK(document["message"].get<std::string>().starts_with(program + ": "));
        CHECK(status_of(document) == "failed");
    }
}

TEST_CASE("the hash is of the script that a command runs, not of its interpreter or its data") {
    const lab_tests::temporary_folder folder;
    lab_tests::write_text(folder / "script", "#!/bin/sh\ntrue\n");
    lab_tests::write_text(folder / "data", "1 2 3\n");
    const auto facts = indicators::facts_of({"sh", folder / "script", folder / "data"}, {});
    REQUIRE(facts.files.size() == 3);
    CHECK(facts.script_sha256 == facts.files[1]["sha256"]);
    const auto direct = indicators::facts_of({folder / "script"}, {});
    CHECK(direct.script_sha256 == facts.script_sha256);
    // What runs it is no program that is measured, but tells runs apart.
    const auto wrapped = indicators::facts_of({"nice", "-n", "1", folder / "script"}, {});
    CHECK(wrapped.script_sha256 == direct.script_sha256);
    CHECK(wrapped.stack["arguments"] == "nice -n 1");
    const auto program = indicators::facts_of({"sort", folder / "data"}, {});
    CHECK(program.script_sha256 == program.files[0]["sha256"]);
    CHECK(indicators::facts_of({"no-such-program"}, {}).script_sha256.empty());
}

TEST_CASE("a machine that doesn't tell what it is has nulls, and a name all the same") {
    const lab_tests::temporary_folder empty;
    const json nothing = indicators::hardware_of_machine(empty / "");
    CHECK(nothing["processor"].is_null());
    CHECK(nothing["cores"].is_null());
    CHECK(nothing["memory_bytes"].is_null());
    CHECK(nothing["caches"].is_null());
    CHECK(nothing["name"].is_string());
    CHECK(indicators::os_release_of_machine(empty / "").is_null());

    const lab_tests::temporary_folder folder;
    for (const char* part : {"proc", "etc", "sys/devices/system/cpu/cpu0/cache/index0",
                             "sys/kernel/mm/transparent_hugepage", "proc/driver/nvidia/gpus/0000:01:00.0"})
        std::filesystem::create_directories(folder / part);
    lab_tests::write_text(
        folder / "proc/cpuinfo",
        "processor\t: 0\ncpu family\t: 6\nmodel\t\t: 85\nmodel name\t: Intel X\nflags\t\t: fpu hypervisor\n\n"
        "processor\t: 1\nmodel name\t: Intel X\n");
    lab_tests::write_text(folder / "proc/meminfo", "MemTotal:       16777216 kB\nMemFree: 1 kB\n");
    lab_tests::write_text(folder / "etc/os-release", "# text\nID=debian\nVERSION_ID=\"12\"\n");
    lab_tests::write_text(folder / "sys/devices/system/cpu/cpu0/cache/index0/level", "1\n");
    lab_tests::write_text(folder / "sys/devices/system/cpu/cpu0/cache/index0/type", "Data\n");
    lab_tests::write_text(folder / "sys/devices/system/cpu/cpu0/cache/index0/size", "32K\n");
    lab_tests::write_text(folder / "sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n");
    lab_tests::write_text(folder / "proc/driver/nvidia/gpus/0000:01:00.0/information",
                          "Model: \t NVIDIA H100\n");
    const json known = indicators::hardware_of_machine(folder / "");
    CHECK(known["name"] == "2 x Intel X, 16 GiB, NVIDIA H100");
    CHECK(known["family"] == 6);
    CHECK(known["model"] == 85);
    CHECK(known["hypervisor"] == true);
    CHECK(known["caches"] == json{{"L1 Data", "32K"}});
    CHECK(known["huge_pages"] == "madvise");
    CHECK(indicators::os_release_of_machine(folder / "") == json{{"id", "debian"}, {"version_id", "12"}});
    lab_tests::write_text(folder / "proc/cpuinfo",
                          "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd0c\n");
    CHECK(indicators::hardware_of_machine(folder / "")["name"] ==
          "1 x implementer 0x41 part 0xd0c, 16 GiB, NVIDIA H100");
}
