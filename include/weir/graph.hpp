// weir: stages with several inputs or outputs
// SPDX-License-Identifier: BSL-1.0
#ifndef WEIR_GRAPH_HPP
#define WEIR_GRAPH_HPP

#include <weir/graph/branch.hpp>
#include <weir/graph/merge.hpp>
#include <weir/graph/route.hpp>
#include <weir/graph/split.hpp>
#include <weir/graph/tee.hpp>
#include <weir/graph/zip.hpp>

#endif
