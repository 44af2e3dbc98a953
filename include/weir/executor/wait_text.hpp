// weir executor, internal: who waits for what, in words: those that wait alike are one line
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_EXECUTOR_WAIT_TEXT_HPP
#define WEIR_EXECUTOR_WAIT_TEXT_HPP

#include <cstddef>  // for std::size_t
#include <string>   // for std::string
#include <utility>  // for std::move
#include <vector>   // for std::vector

namespace weir::detail {

// Of a wait.
struct wait_words {
    std::string who;    // "stage 'x', slot 0", "a coroutine" or "a thread"
    std::string stage;  // empty: not of one
    std::string where;  // of that: "loader.cpp:42"
    std::string at;     // "channel 'y' is full, 64 of 64"; empty: not at a channel
    std::string what;   // behind "waits": "to put"
    std::string why;    // behind all that

    bool is_like(const wait_words& o) const {
        return at == o.at && what == o.what && why == o.why && where == o.where && stage == o.stage &&
               (!stage.empty() || who == o.who);
    }
};

// The lines of a report: a wait that is like one of them is added to that.
class wait_lines {
  public:
    void add(wait_words words) {
        for (line& each : lines_) {
            if (!each.words.is_like(words)) continue;
            ++each.count;
            return;
        }
        lines_.push_back({std::move(words), 1});
    }

    // Of each "stage 'x', slot 3" or "16 slots of stage 'x'".
    std::vector<std::string> subjects() const {
        std::vector<std::string> all;
        for (const line& each : lines_) all.push_back(each.subject());
        return all;
    }

    // "\n  channel 'y' is full, 64 of 64: 16 slots of stage 'x' (loader.cpp:42) wait to put", and so on.
    std::string text(std::size_t most = static_cast<std::size_t>(-1)) const {
        std::string text;
        for (std::size_t i = 0; i < lines_.size() && i < most; ++i) text += "\n  " + lines_[i].text();
        if (lines_.size() > most) text += "\n  and " + std::to_string(lines_.size() - most) + " more";
        return text;
    }

  private:
    struct line {
        wait_words words;
        std::size_t count;

        std::string text() const {
            const wait_words& w = words;
            return (w.at.empty() ? "" : w.at + ": ") + subject() +
                   (w.where.empty() ? "" : " (" + w.where + ")") + (count > 1 ? " wait " : " waits ") +
                   w.what + w.why;
        }
        // Of who is no stage's "a thread" or "2 threads".
        std::string subject() const {
            if (count == 1) return words.who;
            const std::string number = std::to_string(count);
            if (!words.stage.empty()) return number + " slots of stage '" + words.stage + "'";
            const std::size_t article = words.who.starts_with("a ") ? 2 : 0;
            return number + " " + words.who.substr(article) + "s";
        }
    };

    std::vector<line> lines_;
};

}  // namespace weir::detail

#endif
