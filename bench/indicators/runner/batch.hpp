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
    std::vector<std::pair<std::string, std::string>> environment;  // set for it, on top of the runner's own
    std::int64_t size = 1;
    bool lenient = false;                        // as its documents say, for whoever judges them again
    double limit_s = 600;                        // of one run; 0: none
    std::size_t most_output = 16 * 1024 * 1024;  // bytes, of each of standard output and standard error
    const volatile std::sig_atomic_t* stop = nullptr;
};

// A batch that is being run: its documents have its id, their place, and its size.
class batch {
  public:
    // Finds out what the program is.
    explicit batch(batch_options options);

    [[nodiscard]] const std::string& id() const { return id_; }
    // The next run, to its end. Its document has everything but what became of it: whether it is accepted.
    json run(std::int64_t place);

  private:
    batch_options options_;
    std::string id_;
    json release_;
    program_facts facts_;
};

}  // namespace indicators

#endif
