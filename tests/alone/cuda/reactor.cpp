#include <weir/cuda/reactor.hpp>

constexpr weir::cuda::context_options options{.how = weir::cuda::completion_by::host_function,
                                              .or_host = true};
