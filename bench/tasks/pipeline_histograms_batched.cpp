#include "pipeline.hpp"

template std::unique_ptr<tasks::runner> tasks::make_pipeline<weir::measured, true>(const context&);
