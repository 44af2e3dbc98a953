// weir report: `weir::units`, as it was called before other rooms needed it: measure/unit_text.hpp
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_REPORT_UNITS_HPP
#define WEIR_REPORT_UNITS_HPP

#include <weir/measure/unit_text.hpp>  // IWYU pragma: export

#endif
