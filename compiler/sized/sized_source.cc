#include "compiler/sized/sized_source.h"

#include <algorithm>

namespace tunec {

Result<std::optional<Graph>> SizedSource::GraphIfAny(const Sizes& sizes) const {
  Result<Graph> graph = graph_at(sizes);
  if (graph) return *std::move(graph);
  if (IsCancelled(graph.error())) return std::unexpected(graph.error());
  return std::nullopt;
}

size_t SizedSource::IndexOf(const std::string& dimension) const {
  return static_cast<size_t>(std::ranges::find(dimensions, dimension) - dimensions.begin());
}

}  // namespace tunec
