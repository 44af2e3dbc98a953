#include <weir/cuda/reactor.hpp>

using weir::cuda::completion_by;

static_assert(weir::cuda::context_options{.how = completion_by::host_function, .or_host = true}.or_host);
