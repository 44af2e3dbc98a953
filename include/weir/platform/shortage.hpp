// weir platform, internal: exceptions for too little memory or too few threads, whose text says how many
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_SHORTAGE_HPP
#define WEIR_PLATFORM_SHORTAGE_HPP

#include <weir/platform/config.hpp>

#include <cstddef>       // for std::size_t
#include <new>           // for std::bad_alloc
#include <stdexcept>     // for std::runtime_error
#include <string>        // for std::string
#include <system_error>  // for std::system_error
#include <utility>       // for std::forward

namespace weir::detail {

// Out of memory for a large request. Derived from `std::bad_alloc`, which handlers catch. For a small request
// a text explains nothing, and there may be no memory for one: then a plain `std::bad_alloc` is thrown.
// Errors of the constructors: `std::bad_alloc`.
class memory_shortage final : public std::bad_alloc {
  public:
    static constexpr std::size_t many_bytes = std::size_t{1} << 20;
    static constexpr std::size_t many = 100;  // slots, threads

    // `lack`: a sentence without the prefix "weir: ".
    // NOLINTNEXTLINE(bugprone-throw-keyword-missing): a member
    explicit memory_shortage(const std::string& lack) : text_("weir: " + lack) {}
    // There is memory for `possible` of `wanted` things; `whose`: the start of the sentence.
    memory_shortage(const std::string& whose, std::size_t wanted, const std::string& things,
                    std::size_t possible)
        : memory_shortage(whose + "no memory for " + std::to_string(wanted) + " " + things + "; for " +
                          std::to_string(possible) + " there is") {}

    const char* what() const noexcept override { return text_.what(); }

    // Calls `make()`. If that throws a memory_shortage, inserts `whose` at the beginning of its text.
    template <class Make>
    static decltype(auto) told_of(const std::string& whose, Make make) {
        try {
            return make();
        } catch (const memory_shortage& shortage) {
            throw memory_shortage(whose + (shortage.what() + 6));
        }
    }

  private:
    std::runtime_error text_;  // its copies share the text, so copying can't fail
};

// A thread can't be started.
class thread_shortage final : public std::system_error {
  public:
    using std::system_error::system_error;

    // Starts a thread that calls `run`. Errors: thread_shortage.
    template <class Thread, class Run>
    static Thread told_by(Run&& run) {
        try {
            return Thread(std::forward<Run>(run));
        } catch (const std::system_error& e) {
            throw thread_shortage(e.code());
        }
    }

    // Calls `start()`, which starts `wanted` threads, named `name` and their number. If that fails, throws an
    // error that says how many there are: `started()`.
    template <class Start, class Started>
    static void told_of(const std::string& name, unsigned wanted, Start start, Started started) {
        const auto text = [&] {
            return "of " + std::to_string(wanted) + " threads '" + name + " 0', '" + name + " 1', ... " +
                   std::to_string(started());
        };
        try {
            start();
        } catch (const thread_shortage& e) {
            throw std::system_error(e.code(), "weir: " + text() + " could be started");
        } catch (const std::bad_alloc&) {
            if (wanted < memory_shortage::many) throw;
            throw memory_shortage("no memory for all threads of a pool: " + text() + " are there");
        }
    }
};

}  // namespace weir::detail

#endif
