// lab analysis: counts chains, forwards and backwards through the configurations between two ends
#include "lab/analysis/chains.hpp"

#include <algorithm>
#include <map>

namespace lab {

chain_lattice chains_between(const configuration_index& measured, const configuration& from,
                             const configuration& to) {
    chain_lattice result;
    if (!measured.find(from) || !measured.find(to)) return result;
    for (std::size_t f = 0; f < from.size(); ++f)
        if (from[f] != to[f]) result.changed.push_back(f);

    const auto num_changed = [&](const configuration& values) -> std::optional<std::size_t> {
        std::size_t count = 0;
        for (std::size_t f = 0; f < values.size(); ++f) {
            if (values[f] == from[f]) continue;
            if (values[f] != to[f]) return std::nullopt;
            ++count;
        }
        return count;
    };
    std::vector<std::pair<std::size_t, std::size_t>> between;  // number changed, place
    for (std::size_t i = 0; i < measured.all().size(); ++i)
        if (const auto count = num_changed(measured.all()[i].values)) between.emplace_back(*count, i);
    std::sort(between.begin(), between.end());

    std::map<std::size_t, std::size_t> node_of;
    for (const auto& [count, place] : between) {
        node_of[place] = result.nodes.size();
        result.nodes.push_back({place, 0, 0, {}});
    }
    result.nodes.front().chains_here = 1;
    for (chain_node& node : result.nodes) {
        configuration values = measured.all()[node.place].values;
        for (const std::size_t f : result.changed) {
            if (values[f] == to[f]) continue;
            values[f] = to[f];
            if (const auto next = measured.find(values)) {
                node.steps.push_back({f, node_of.at(*next)});
                result.nodes[node.steps.back().to].chains_here += node.chains_here;
            }
            values[f] = from[f];
        }
    }
    result.nodes.back().chains_after = 1;
    for (std::size_t i = result.nodes.size(); i-- > 0;)
        for (const chain_step& step : result.nodes[i].steps)
            result.nodes[i].chains_after += result.nodes[step.to].chains_after;
    return result;
}

}  // namespace lab
