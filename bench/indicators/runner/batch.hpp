// indicators runner: runs a command several times, and makes a document of each run, whatever it does
#ifndef INDICATORS_RUNNER_BATCH_HPP
#define INDICATORS_RUNNER_BATCH_HPP

#include "indicators/machine/program.hpp"

#include <csignal>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace indicators {

struct batch_options {
    std::vector<std::string> command;
    std::vector<std::pair<std::string, std::string>> environment;  // variables in addition to the runner's
    std::int64_t size = 1;
    bool lenient = false;                        // recorded in its documents, for later checks
    double limit_s = 600;                        // limit of one run; 0: none
    std::size_t most_output = 16 * 1024 * 1024;  // bytes of each of standard output and standard error
    const volatile std::sig_atomic_t* stop = nullptr;
};

// A running batch: its documents have its id, their place, and its size.
class batch {
  public:
    // Collects information about the program.
    explicit batch(batch_options options);

    [[nodiscard]] const std::string& id() const { return id_; }
    // Makes the next run, to its end. Its document is complete except for the verdict whether it is accepted.
    json run(std::int64_t place);

  private:
    batch_options options_;
    std::string id_;
    json release_;
    program_facts facts_;
};

}  // namespace indicators

#endif
