#include "item_log.hpp"

#include "item.hpp"
#include "scratch_file.hpp"

#include <stdio_ext.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <system_error>

namespace tasks {
namespace {

struct line {
    char text[96];
};

// The last lines of a thread.
class line_ring {
  public:
    void add(const line& one) { lines_[next_++ % lines_.size()] = one; }

  private:
    std::array<line, 1024> lines_;
    std::size_t next_ = 0;
};

std::FILE* stream_to(const std::string& where) {
    if (where == "stderr") return stderr;
    scratch_file file(where == "tmpfs" ? scratch_kind::in_memory : scratch_kind::on_disk);
    std::FILE* const out = fdopen(file.descriptor(), "w");
    if (out == nullptr) throw std::system_error(errno, std::generic_category(), "opening the log of items");
    static_cast<void>(file.release());
    return out;
}

}  // namespace

item_log::item_log(const values& asked) : flush_(asked.text("cfg_log_flush")) {
    const std::string where = asked.text("cfg_item_log");
    if (where == "off") return;
    if (where == "ring") {
        to_ = target::ring;
        return;
    }
    to_ = target::stream;
    out_ = stream_to(where);
    std::setvbuf(out_, nullptr, flush_ == "line" ? _IOLBF : _IOFBF, BUFSIZ);
}

item_log::~item_log() {
    if (out_ != nullptr && out_ != stderr) std::fclose(out_);
}

void item_log::write_line(std::uint64_t number) {
    line one;
    const int size =
        std::snprintf(one.text, sizeof one.text, "%lld item %llu: begun\n",
                      static_cast<long long>(nanoseconds_now()), static_cast<unsigned long long>(number));
    if (to_ == target::stream) {
        std::fwrite(one.text, 1, static_cast<std::size_t>(size), out_);
    } else {
        thread_local line_ring last;
        last.add(one);
    }
}

void item_log::end_batch() {
    if (out_ == nullptr) return;
    if (std::fflush(out_) != 0)
        throw std::system_error(errno, std::generic_category(), "writing the log of items");
}

void item_log::tell(values& effective) const {
    effective.set("cfg_item_log", to_ == target::nowhere         ? "off"
                                  : to_ == target::ring          ? "ring"
                                  : fileno(out_) == 2            ? "stderr"
                                  : lies_in_memory(fileno(out_)) ? "tmpfs"
                                                                 : "file");
    effective.set("cfg_log_flush", out_ == nullptr ? flush_ : __flbf(out_) != 0 ? "line" : "block");
}

}  // namespace tasks
