// indicators machine: describes this machine
#ifndef INDICATORS_MACHINE_MACHINE_HPP
#define INDICATORS_MACHINE_MACHINE_HPP

#include "indicators/contract/json_text.hpp"

#include <string>

namespace indicators {

// Describes the hardware: "name", a summary ("2 x AMD EPYC 9554, 24 GiB"), "architecture", "processor",
// "family", "model", "cores", "cores_allowed", "caches", "memory_bytes", "hypervisor", "governor",
// "huge_pages", "load", "accelerators". Unknown values are null. `root` is the folder of /proc, /sys and /etc;
// tests use another one.
json hardware_of_machine(const std::string& root = "");
// /etc/os-release, its keys in lower case; null if it can't be read.
json os_release_of_machine(const std::string& root = "");

}  // namespace indicators

#endif
