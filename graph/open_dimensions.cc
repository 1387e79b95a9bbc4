#include "graph/open_dimensions.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <vector>

namespace tunec {
namespace {

// The size in the examples of DescribeSizeOptions.
constexpr int kExample = 8;

void AddNames(std::span<const SizeExpr> sizes, std::vector<std::string>& names) {
  for (const SizeExpr& size : sizes) {
    for (const std::string& name : size.Names())
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
}

// Returns the names of open dimensions. The names in input types come first, because the sizes of
// inputs determine all other sizes.
std::vector<std::string> OpenDimensions(const Graph& graph) {
  std::vector<std::string> names;
  for (const ValueId input : graph.inputs()) AddNames(graph.value(input).type.dims, names);
  for (const Value& value : graph.values()) AddNames(value.type.dims, names);
  for (const Node& node : graph.nodes())
    for (const auto& [name, attribute] : node.attributes) AddNames(SizesOf(attribute), names);
  return names;
}

bool IsInput(const Graph& graph, const Value& value) {
  return std::ranges::any_of(graph.inputs(),
                             [&](ValueId input) { return &graph.value(input) == &value; });
}

}  // namespace

Status RequireFixedSizes(const Graph& graph) {
  for (const Value& value : graph.values()) {
    if (value.type.IsFixed()) continue;
    const std::vector<std::string> names = OpenDimensions(graph);
    return Fail(ErrorCode::kUnsupported, "{} {} of {} has shape {}, and the size of {} is open: {}",
                IsInput(graph, value) ? "input" : "value", value.name, graph.name(),
                ShapeText(value.type.dims), fmt::join(names, ", "), DescribeSizeOptions(names));
  }
  return RequireFixedAttributes(graph);
}

Status RequireFixedAttributes(const Graph& graph) {
  for (const Node& node : graph.nodes()) {
    for (const auto& [name, attribute] : node.attributes) {
      if (SizesOf(attribute).empty()) continue;
      const std::vector<std::string> names = OpenDimensions(graph);
      return Fail(ErrorCode::kUnsupported,
                  "attribute {} of node {} contains named sizes, and the size of {} is open: {}",
                  name, node.name, fmt::join(names, ", "), DescribeSizeOptions(names));
    }
    for (const std::shared_ptr<const Graph>& body : node.bodies)
      TUNEC_RETURN_IF_ERROR(RequireFixedAttributes(*body));
  }
  return {};
}

Status RequireSizes(const SizeValues& sizes) {
  for (const auto& [name, size] : sizes) {
    if (size < 0)
      return Fail(ErrorCode::kInvalidArgument,
                  "the size of dimension {} is {}, expected at least 0", name, size);
  }
  return {};
}

int64_t DefaultSizeOf(size_t axis, size_t rank) {
  constexpr int64_t kImage = 224, kLength = 16;
  if (axis == 0) return 1;
  return rank >= 4 && axis >= 2 ? kImage : kLength;
}

DefaultSizes DefaultSizesOf(const Graph& graph) {
  DefaultSizes sizes;
  for (const ValueId input : graph.inputs()) {
    const std::vector<Dim>& dims = graph.value(input).type.dims;
    for (size_t axis = 0; axis < dims.size(); ++axis)
      for (const std::string& name : dims[axis].Names())
        sizes.emplace(name, DefaultSizeOf(axis, dims.size()));
  }
  return sizes;
}

std::string DescribeSizeOptions(std::span<const std::string> names) {
  std::string flags, entries;
  for (const std::string& name : names) {
    flags += fmt::format("{}--dim {}={}", flags.empty() ? "" : " ", name, kExample);
    entries += fmt::format("{}\"{}\": {}", entries.empty() ? "" : ", ", name, kExample);
  }
  return fmt::format(
      "the option dims gives sizes, such as {} of the command, dims={{{}}} of Python, "
      "{{\"dims\": {{{}}}}} of C",
      flags, entries, entries);
}

}  // namespace tunec
