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

// A part of an axis of an output. It moves if it is the split dimension.
struct Part {
  int64_t padded = 1, exact = 1;
  bool moves = false;
};

// Returns the parts of all axes of an output, in order.
std::vector<Part> PartsOf(const std::vector<PaddedAxis>& axes, const Dim& dimension,
                          const SizeValues& sizes) {
  std::vector<Part> parts;
  for (const PaddedAxis& axis : axes)
    for (const PaddedExtent& part : axis)
      parts.push_back(
          {part.padded, Evaluate(part.exact, sizes).value_or(0), part.exact == dimension});
  return parts;
}

bool Close(const Array& a, int64_t i, const Array& b, int64_t j) {
  if (!IsFloat(a.type())) return a.GetInt(i) == b.GetInt(j);
  const double x = a.GetDouble(i), y = b.GetDouble(j);
  if (x == y || (std::isnan(x) && std::isnan(y))) return true;
  return std::abs(x - y) <= CloseEnough(a.type()) * std::abs(y);
}

std::string MovedProblem(const Array& before, const Array& after, const std::vector<Part>& parts,
                         const Origins& origins) {
  std::vector<int64_t> position(parts.size(), 0);
  for (int64_t i = 0; i < before.size(); ++i) {
    int64_t from = 0;
    bool checked = true;
    for (size_t p = 0; p < position.size(); ++p) {
      const int64_t origin = parts[p].moves ? origins[position[p]] : position[p];
      checked = checked && position[p] < parts[p].exact && origin >= 0;
      from = from * parts[p].padded + origin;
    }
    if (checked && !Close(after, i, before, from))
      return fmt::format("element {} is not what {} was", i, from);
    for (size_t p = position.size(); p-- > 0;) {
      if (++position[p] < parts[p].padded) break;
      position[p] = 0;
    }
  }
  return "";
}

// Gives the inputs new elements along the dimension. Returns no value if the size of an axis
// depends on the dimension in another way, since such an axis has no positions of the dimension.
std::optional<std::vector<Array>> MovedInputs(const Graph& named, const std::string& dimension,
                                              const Origins& origins, std::span<const Array> inputs,
                                              Random& random) {
  std::vector<Array> moved(inputs.begin(), inputs.end());
  for (size_t i = 0; i < named.inputs().size(); ++i) {
    const std::vector<Dim>& dims = named.value(named.inputs()[i]).type.dims;
    for (int axis = 0; axis < std::ssize(dims); ++axis) {
      if (!dims[axis].Names().contains(dimension)) continue;
      if (dims[axis].AsName() != dimension) return {};
      moved[i] = Moved(moved[i], axis, origins, random);
    }
  }
  return moved;
}

}  // namespace

std::string SeparableProblem(const PaddedGraph& padded, const SizeValues& sizes,
                             const SizedModel& model, std::span<const Array> inputs,
                             uint64_t seed) {
  Random random(StreamSeed(seed, "separable"));
  const auto outputs = RunReference(padded.graph, inputs);
  if (!outputs) return outputs.error().Format();
  for (const std::string& dimension : padded.separable) {
    const auto exact = sizes.find(dimension);
    if (exact == sizes.end()) return fmt::format("{} is no size", dimension);
    const int64_t largest = model.sizes[kBucket].at(dimension);
    if (exact->second == largest) continue;
    const Origins origins = DrawOrigins(exact->second, largest, random);
    const auto moved = MovedInputs(model.named, dimension, origins, inputs, random);
    if (!moved) continue;
    const auto after = RunReference(padded.graph, *moved);
    if (!after) continue;  // a divisor became 0
    for (size_t o = 0; o < outputs->size(); ++o) {
      const std::vector<Part> parts = PartsOf(padded.outputs[o], SizeExpr::Named(dimension), sizes);
      if (std::ranges::count(parts, true, &Part::moves) > 1) continue;
      const std::string problem = MovedProblem((*outputs)[o], (*after)[o], parts, origins);
      if (!problem.empty())
        return fmt::format("{}: output {}: {}", dimension, padded.graph.output_names()[o], problem);
    }
  }
  return "";
}

}  // namespace tunec::fuzz
