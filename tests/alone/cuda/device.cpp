#include <weir/cuda/device.hpp>

int mine() { return weir::cuda::device::count() == 0 ? -1 : weir::cuda::device::from_environment().index(); }
