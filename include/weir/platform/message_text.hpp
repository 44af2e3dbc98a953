// weir platform, internal: texts for exceptions and source locations; errors for lack of memory or threads
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_PLATFORM_MESSAGE_TEXT_HPP
#define WEIR_PLATFORM_MESSAGE_TEXT_HPP

#include <weir/platform/config.hpp>

#include <cstddef>          // for std::size_t
#include <exception>        // for std::exception_ptr
#include <new>              // for std::bad_alloc
#include <source_location>  // for std::source_location
#include <stdexcept>        // for std::runtime_error
#include <string>           // for std::string
#include <string_view>      // for std::string_view
#include <system_error>     // for std::system_error
#include <utility>          // for std::forward

namespace weir::detail {

// The type of the exception that is being handled, as written in a program; "?" if the compiler can't tell.
std::string type_of_current_exception();

// The text, followed by the type of the exception that is being handled; for an empty text, a sentence with
// the type.
std::string text_with_type(std::string_view text);

// The text of an exception. For a `std::exception` with a text: `what()`. For a thrown string, double, or
// integer from int to unsigned long long: its text and type. For any other exception: its type. For null: "no
// exception". Errors: `std::bad_alloc`.
std::string error_text(const std::exception_ptr& error);

// The type of an exception, to distinguish exceptions with the same text. `error`: not null.
std::string error_type(const std::exception_ptr& error);

// Whether an ASCII character is a control character, such as a line break.
constexpr bool is_control(char c) noexcept { return static_cast<unsigned char>(c) < ' ' || c == '\x7F'; }

// The text with `?` for each control character, except line breaks and tabs: for names and messages of users
// that go to a terminal. Control characters are those of ASCII, and U+0080 to U+009F. Errors:
// `std::bad_alloc`.
std::string without_controls(std::string_view text);

// The folder of weir's own headers. Options of a stage store the source location of the code that constructs
// them. A location in this folder means nothing to a user: weir itself has constructed the options.
std::string_view folder_of_weir() noexcept;

// "loader.cpp:42", without the folder, which differs between machines; empty if the line is 0 (unknown), or
// if the file is one of weir's own headers.
std::string place_text(const std::source_location& where);

// The text of `place_text` in the form that follows a name: " (loader.cpp:42)"; empty if `place_text` is
// empty.
std::string place_behind(const std::source_location& where);

// Thrown if there is no memory for a large request. Derived from `std::bad_alloc`, so that handlers for
// `std::bad_alloc` catch it. For a small request a plain `std::bad_alloc` is thrown: a text would explain
// nothing, and there may be no memory for one. Errors of the constructors: `std::bad_alloc`.
class memory_shortage final : public std::bad_alloc {
  public:
    // A request for more than `many_bytes`, or for at least `many` workers of a stage or threads, is large.
    static constexpr std::size_t many_bytes = std::size_t{1} << 20;
    static constexpr std::size_t many = 100;

    // `lack`: a sentence without the prefix "weir: ".
    explicit memory_shortage(const std::string& lack);
    // There is memory for `possible` of the `wanted` things; `things`: their name; `whose`: the beginning of
    // the sentence, which names their owner.
    memory_shortage(const std::string& whose, std::size_t wanted, const std::string& things,
                    std::size_t possible);

    const char* what() const noexcept override { return text_.what(); }

    // Returns `make()`. If `make` throws a memory_shortage, throws a memory_shortage whose text has `whose`
    // inserted behind "weir: ".
    template <class Make>
    static decltype(auto) with_prefix(const std::string& whose, Make make) {
        try {
            return make();
        } catch (const memory_shortage& shortage) {
            shortage.throw_with_prefix(whose);
        }
    }

  private:
    [[noreturn]] void throw_with_prefix(const std::string& whose) const;

    std::runtime_error text_;  // its copies share the text, so copying can't fail
};

// `start_thread` throws this error if a thread can't be started. `start_threads` catches this error, and
// throws a std::system_error that tells how many threads were started.
class thread_shortage final : public std::system_error {
  public:
    using std::system_error::system_error;

    // Starts a thread that calls `run`. Errors: thread_shortage.
    template <class Thread, class Run>
    static Thread start_thread(Run&& run) {
        try {
            return Thread(std::forward<Run>(run));
        } catch (const std::system_error& e) {
            throw thread_shortage(e.code());
        }
    }

    // Calls `start()`, which starts `wanted` threads: their names are `name` and a number. Errors:
    // std::system_error instead of a thread_shortage, and memory_shortage instead of a std::bad_alloc if
    // `wanted` is large; both errors tell how many threads were started: `started()`. Other exceptions of
    // `start` pass.
    template <class Start, class Started>
    static void start_threads(const std::string& name, unsigned wanted, Start start, Started started) {
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

#if !defined(WEIR_SEPARATE_COMPILATION)
#include <weir/platform/message_text.ipp>
#endif

#endif
