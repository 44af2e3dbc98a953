#include "pipeline.hpp"

template std::unique_ptr<tasks::runner> tasks::make_pipeline<weir::summed, true>(const context&);
