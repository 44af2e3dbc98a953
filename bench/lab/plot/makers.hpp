// lab plot: one function per plot: makes the drawing and its sentence from the analyses
#ifndef LAB_PLOT_MAKERS_HPP
#define LAB_PLOT_MAKERS_HPP

#include "lab/plot/plot.hpp"
#include "lab/plot/study.hpp"

namespace lab {

// Changes of means: mean_plots.cpp.
plot means_plot(study& of);
plot kept_plot(study& of);
plot both_plot(study& of);

// Single deltas: delta_plots.cpp.
plot before_after_plot(study& of);
plot flipped_plot(study& of);
plot crossing_plot(study& of);
plot colours_plot(study& of);

// Paths from slow to fast: path_plots.cpp.
plot time_waterfall(study& of, bool nicest);
plot rate_waterfall(study& of, bool nicest);
plot path_treemap(study& of, bool nicest);
plot shapley_plot(study& of);

// Linear models: model_plots.cpp.
plot fit_plot(study& of, bool pairs);
plot coefficients_plot(study& of);
plot interactions_plot(study& of);

// How many runs would have been enough: curve_plot.cpp.
plot runs_plot(study& of);

// Sequences: component_plots.cpp.
plot biplot(study& of);
plot scree(study& of);

}  // namespace lab

#endif
