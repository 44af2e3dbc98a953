// weir run: how a run ended
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_RUN_RUN_OUTCOME_HPP
#define WEIR_RUN_RUN_OUTCOME_HPP

#include <weir/platform/requirements.hpp>

#include <cstdint>  // for std::uint8_t

namespace weir {

/// What ended a run. Of several causes the first counts: a run that is stopped when its failure stands fast
/// has failed, one that fails while it is being stopped was stopped.
enum class run_outcome : std::uint8_t {
    running,   ///< nothing has yet; also where all is done that nobody has taken to the end
    finished,  ///< the source ended, and a consumer has seen the end behind the last item; or, where a
               ///< `for_each` takes the place of one, all stages have ended
    stopped,   ///< by `run::stop` or `run::request_stop`
    stopped_by_token,  ///< by the stop token of its options
    failed             ///< by more failures than it tolerates; see `pipeline_failure`
};

}  // namespace weir

#endif
