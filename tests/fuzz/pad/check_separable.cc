#include "tests/fuzz/pad/check_separable.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "graph/reference.h"
#include "support/check.h"
#include "tests/fuzz/stable_reference.h"
#include "tests/graph/pad/padded_values.h"

namespace tunec::fuzz {
namespace {

// The former position of the elements at each position of a dimension, or -1 for new elements.
using Origins = std::vector<int64_t>;

Origins DrawOrigins(int64_t exact, int64_t padded, Random& random) {
  Origins origins(static_cast<size_t>(padded), -1);
  std::iota(origins.begin(), origins.begin() + exact, 0);
  for (int64_t i = exact; i > 1; --i)
    std::swap(origins[i - 1], origins[random.Below(static_cast<uint64_t>(i))]);
  for (int64_t i = 0; i < exact; ++i)
    if (random.Below(3) == 0) origins[i] = -1;
  return origins;
}

// The shape of an array as [before, size, after], in which `size` is the extent of one axis.
struct Split {
  int64_t before = 1, size = 1, after = 1;
};

void CopyElement(const Array& from, int64_t i, Array& to, int64_t j) {
  IsFloat(from.type()) ? to.SetDouble(j, from.GetDouble(i)) : to.SetInt(j, from.GetInt(i));
}

Array Moved(const Array& array, int axis, const Origins& origins, Random& random) {
  Array moved = Garbage(array.type(), array.shape(), random);
  Split split;
  for (int a = 0; a < std::ssize(array.shape()); ++a) {
    const int64_t size = array.shape()[a];
    (a < axis ? split.before : a == axis ? split.size : split.after) *= size;
  }
  for (int64_t b = 0; b < split.before; ++b)
    for (int64_t p = 0; p < split.size; ++p)
      for (int64_t i = 0; i < split.after && origins[p] >= 0; ++i)
        CopyElement(array, (b * split.size + origins[p]) * split.after + i, moved,
                    (b * split.size + p) * split.after + i);
  return moved;
}

// A dimension, with its number in formulas and with its exact and padded size.
struct Dimension {
  size_t number;
  PaddedExtent extent;

  // Returns true if the part's formula is this dimension. Without a formula, compares the extents,
  // although a part of another dimension can have the same extents.
  bool Has(const PaddedExtent& part) const {
    return part.formula.empty() ? part == extent : part.formula.AsSize() == number;
  }
};

// The parts of all axes of an output, in order.
struct Parts {
  std::vector<PaddedExtent> extents;
  std::optional<size_t> dimension;  // index of the dimension's last part, if any
  int of_dimension = 0;             // number of parts of the dimension
};

Parts PartsOf(const std::vector<PaddedAxis>& axes, const Dimension& dimension) {
  Parts parts;
  for (const PaddedAxis& axis : axes) {
    for (const PaddedExtent& part : axis) {
      if (dimension.Has(part)) {
        parts.dimension = parts.extents.size();
        ++parts.of_dimension;
      }
      parts.extents.push_back(part);
    }
  }
  return parts;
}

bool Close(const Array& a, int64_t i, const Array& b, int64_t j) {
  if (!IsFloat(a.type())) return a.GetInt(i) == b.GetInt(j);
  const double x = a.GetDouble(i), y = b.GetDouble(j);
  if (x == y || (std::isnan(x) && std::isnan(y))) return true;
  return std::abs(x - y) <= CloseEnough(a.type()) * std::abs(y);
}

std::string OutputProblem(const Array& before, const Array& after, const Parts& parts,
                          const Origins& origins) {
  std::vector<int64_t> position(parts.extents.size(), 0);
  for (int64_t i = 0; i < before.size(); ++i) {
    int64_t from = 0;
    bool checked = true;
    for (size_t p = 0; p < position.size(); ++p) {
      const bool moves = p == parts.dimension;
      const int64_t origin = moves ? origins[position[p]] : position[p];
      checked = checked && position[p] < parts.extents[p].exact && origin >= 0;
      from = from * parts.extents[p].padded + origin;
    }
    if (checked && !Close(after, i, before, from))
      return fmt::format("element {} is not what {} was", i, from);
    for (size_t p = position.size(); p-- > 0;) {
      if (++position[p] < parts.extents[p].padded) break;
      position[p] = 0;
    }
  }
  return "";
}

// Returns true if the extent is padded and no other input dimension has the same two sizes.
bool IsOnlyOne(const SizedModel& model, const std::vector<OpenAxis>& open,
               const std::string& dimension, const PaddedExtent& extent) {
  if (extent.exact == extent.padded) return false;
  return std::ranges::all_of(open, [&](const OpenAxis& axis) {
    const ValueId input = model.graphs[kExact].inputs()[axis.input];
    const AxisSizes sizes = ShapeOf(model, input)[axis.axis];
    return axis.dimension == dimension || sizes[kExact] != extent.exact ||
           sizes[kBucket] != extent.padded;
  });
}

}  // namespace

std::string SeparableProblem(const SizedModel& model, const std::vector<OpenAxis>& open,
                             const PaddedGraph& padded, std::span<const Array> inputs,
                             uint64_t seed) {
  Random random(StreamSeed(seed, "separable"));
  const auto outputs = RunReference(padded.graph, inputs);
  if (!outputs) return outputs.error().Format();
  for (const std::string& dimension : padded.separable) {
    const auto first = std::ranges::find(open, dimension, &OpenAxis::dimension);
    if (first == open.end()) return fmt::format("{} is no dimension", dimension);
    const ValueId input = model.graphs[kExact].inputs()[first->input];
    const AxisSizes sizes = ShapeOf(model, input)[first->axis];
    const PaddedExtent extent{.padded = sizes[kBucket], .exact = sizes[kExact]};
    const auto number = std::ranges::find(padded.dimensions, dimension);
    const Dimension one{static_cast<size_t>(number - padded.dimensions.begin()), extent};
    if (!IsOnlyOne(model, open, dimension, extent)) continue;
    const Origins origins = DrawOrigins(extent.exact, extent.padded, random);
    std::vector<Array> moved(inputs.begin(), inputs.end());
    for (const OpenAxis& axis : open)
      if (axis.dimension == dimension)
        moved[axis.input] = Moved(moved[axis.input], axis.axis, origins, random);
    const auto after = RunReference(padded.graph, moved);
    if (!after) continue;  // a divisor became 0
    for (size_t o = 0; o < outputs->size(); ++o) {
      const Parts parts = PartsOf(padded.outputs[o], one);
      if (parts.of_dimension > 1) continue;
      const std::string problem = OutputProblem((*outputs)[o], (*after)[o], parts, origins);
      if (!problem.empty())
        return fmt::format("{}: output {}: {}", dimension, padded.graph.output_names()[o], problem);
    }
  }
  return "";
}

}  // namespace tunec::fuzz
