#include "compiler/sized/sized_source.h"

#include <algorithm>
#include <utility>

#include "graph/specialize.h"

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

SizeValues SizedSource::ValuesOf(const Sizes& sizes) const {
  SizeValues values;
  for (size_t d = 0; d < dimensions.size(); ++d) values[dimensions[d]] = sizes[d];
  return values;
}

SizedSource MergeDimensions(SizedSource source, const std::string& kept,
                            const std::string& removed) {
  const size_t from = source.IndexOf(kept), to = source.IndexOf(removed);
  source.graph_at = [graph_at = std::move(source.graph_at), from, to](const Sizes& sizes) {
    Sizes all = sizes;
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(to), 0);
    all[to] = all[from];
    return graph_at(all);
  };
  if (source.named) {
    Result<Graph> renamed = RenameSize(*source.named, removed, kept);
    source.named.reset();
    if (renamed) {
      source.named = *std::move(renamed);
    } else {
      source.unnamed = renamed.error().message;
    }
  }
  for (OpenAxis& axis : source.open)
    if (axis.dimension == removed) axis.dimension = kept;
  source.dimensions.erase(source.dimensions.begin() + static_cast<std::ptrdiff_t>(to));
  source.example.erase(source.example.begin() + static_cast<std::ptrdiff_t>(to));
  return source;
}

}  // namespace tunec
