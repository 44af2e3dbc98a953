#include <weir/report/mermaid.hpp>

#include <string>

std::string graph(const weir::pipeline_description& d) { return weir::mermaid(d, {.queues = true}); }
