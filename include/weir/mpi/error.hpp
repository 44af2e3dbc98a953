// weir mpi: the errors of MPI calls, and the failure of another rank, as exceptions
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_MPI_ERROR_HPP
#define WEIR_MPI_ERROR_HPP

#include <weir/platform/config.hpp>

#include <mpi.h>

#include <stdexcept>     // for std::runtime_error
#include <string>        // for std::string
#include <system_error>  // for std::error_category, std::system_error

namespace weir::mpi {

inline constexpr int any_rank = -1;  ///< any rank, as `MPI_ANY_SOURCE`; or none
inline constexpr int any_tag = -1;   ///< any tag, as `MPI_ANY_TAG`

namespace detail {

// Returns the name of a class of errors, for messages.
inline std::string name_of_class(int error_class) {
    struct entry {
        int value;
        const char* name;
    };
    const entry all[] = {
        {MPI_SUCCESS, "MPI_SUCCESS"},
        {MPI_ERR_BUFFER, "MPI_ERR_BUFFER"},
        {MPI_ERR_COUNT, "MPI_ERR_COUNT"},
        {MPI_ERR_TYPE, "MPI_ERR_TYPE"},
        {MPI_ERR_TAG, "MPI_ERR_TAG"},
        {MPI_ERR_COMM, "MPI_ERR_COMM"},
        {MPI_ERR_RANK, "MPI_ERR_RANK"},
        {MPI_ERR_REQUEST, "MPI_ERR_REQUEST"},
        {MPI_ERR_ROOT, "MPI_ERR_ROOT"},
        {MPI_ERR_GROUP, "MPI_ERR_GROUP"},
        {MPI_ERR_OP, "MPI_ERR_OP"},
        {MPI_ERR_ARG, "MPI_ERR_ARG"},
        {MPI_ERR_TRUNCATE, "MPI_ERR_TRUNCATE"},
        {MPI_ERR_OTHER, "MPI_ERR_OTHER"},
        {MPI_ERR_INTERN, "MPI_ERR_INTERN"},
        {MPI_ERR_PENDING, "MPI_ERR_PENDING"},
        {MPI_ERR_NO_MEM, "MPI_ERR_NO_MEM"},
        {MPI_ERR_UNKNOWN, "MPI_ERR_UNKNOWN"},
    };
    for (const entry& e : all) {
        if (e.value == error_class) return e.name;
    }
    return "an error of class " + std::to_string(error_class);
}

}  // namespace detail

/// The category of error codes that are classes of MPI errors. Lifetime: the program's.
[[nodiscard]] inline const std::error_category& error_category() noexcept {
    class category final : public std::error_category {
        const char* name() const noexcept override { return "mpi"; }
        std::string message(int code) const override { return detail::name_of_class(code); }
    };
    static const category one;
    return one;
}

/// A call of MPI failed. `code()` is the class of the error, one of `MPI_ERR_...`.
class error : public std::system_error {
  public:
    /// \param error_class  as `MPI_Error_class` gives it.
    /// \param call  the name of MPI's function, a literal.
    /// \param peer  the other rank; `any_rank`: none.
    error(int error_class, const char* call, int peer = any_rank)
        : std::system_error(error_class, error_category(), text(call, peer)), call_(call), peer_(peer) {}

    [[nodiscard]] int error_class() const noexcept { return code().value(); }  ///< one of `MPI_ERR_...`
    [[nodiscard]] const char* call() const noexcept { return call_; }          ///< for example MPI_Isend
    [[nodiscard]] int peer() const noexcept { return peer_; }  ///< the other rank, or `any_rank`

  private:
    static std::string text(const char* call, int peer) {
        std::string said = std::string("weir: ") + call;
        if (peer != any_rank) said += " with rank " + std::to_string(peer);
        return said + " failed";
    }

    const char* call_;
    int peer_;
};

namespace detail {

// Returns the class of a code that MPI has returned.
inline int class_of(int code) noexcept {
    int error_class = MPI_ERR_UNKNOWN;
    return MPI_Error_class(code, &error_class) == MPI_SUCCESS ? error_class : MPI_ERR_UNKNOWN;
}

// Throws `error` unless `code`, the result of the MPI function `call`, is MPI_SUCCESS.
inline void check_call(int code, const char* call) {
    if (code != MPI_SUCCESS) throw error(class_of(code), call);
}

}  // namespace detail

/// A rank, this one or another, has failed: the rank threw an exception, got an error of MPI in a channel, or
/// was not heard of. From then on all awaits of weir::mpi throw `rank_failed`.
class rank_failed : public std::runtime_error {
  public:
    /// \param rank  the number of the rank that failed, in the `world` (the communicator of all ranks).
    /// \param why   the message of the exception, or how the failure was found.
    rank_failed(int rank, const std::string& why)
        : std::runtime_error("weir: rank " + std::to_string(rank) + " failed: " + why), rank_(rank) {}

    [[nodiscard]] int rank() const noexcept { return rank_; }  ///< its number in the `world`

  private:
    int rank_;
};

}  // namespace weir::mpi

#endif
