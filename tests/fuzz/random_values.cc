#include "tests/fuzz/random_values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <optional>

#include "ir/rounding.h"

namespace tunec::fuzz {
namespace {

double SpecialFloat(DataType type, Random& random) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double largest = type == DataType::kF16 ? 65504 : 0x1.fep127;
  const double smallest = type == DataType::kF16 ? 0x1p-24 : 0x1p-133;
  const std::array<double, 10> values = {std::nan(""), kInfinity, -kInfinity, 0.0,       -0.0,
                                         largest,      -largest,  smallest,   -smallest, 1.0};
  return values[random.Below(values.size())];
}

// Returns a multiple of 1/4 from -4 to 4.
double FewBits(Random& random) { return (static_cast<double>(random.Below(33)) - 16) / 4; }

void FillFloats(Array& array, Values values, Random& random) {
  const uint64_t kind = random.Below(10);
  const bool special = values == Values::kSpecial && random.Below(3) == 0;
  for (int64_t i = 0; i < array.size(); ++i) {
    double value = FewBits(random);
    if (kind >= 6) value = 4 * static_cast<double>(random.Unit()) - 2;
    if (kind == 9) value = 0.5 + static_cast<double>(random.Unit());
    if (special && random.Below(4) == 0) value = SpecialFloat(array.type(), random);
    array.SetDouble(i, RoundTo(value, array.type()));
  }
}

void FillIntegers(Array& array, Values values, Random& random) {
  const DataType type = array.type();
  const bool wide = random.Below(8) == 0;
  const bool special = values == Values::kSpecial && random.Below(3) == 0;
  for (int64_t i = 0; i < array.size(); ++i) {
    int64_t value = static_cast<int64_t>(random.Below(9)) - (IsSigned(type) ? 4 : 0);
    if (wide) value = static_cast<int64_t>(random.Next());
    if (special && random.Below(4) == 0)
      value = random.Below(2) == 0 ? SmallestInt(type) : LargestInt(type);
    array.SetInt(i, WrapTo(value, type));
  }
}

struct Bounds {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();
};

// Returns the range of indices that all users allow, or no value if no user indexes by `value`.
std::optional<Bounds> IndexBounds(const Graph& graph, ValueId value,
                                  std::span<const NodeId> users) {
  std::optional<Bounds> bounds;
  for (const NodeId user : users) {
    const Node& node = graph.node(user);
    const bool scatters = node.op == Op::kScatter;
    if (!scatters && node.op != Op::kGather && node.op != Op::kGatherElements) continue;
    if (node.inputs[1] != value) continue;
    const std::vector<int64_t> shape = graph.value(node.inputs[0]).type.Shape();
    const auto from = shape.begin() + node.Int("axis");
    const auto depth = scatters ? node.Int("depth") : 1;
    const int64_t size = std::accumulate(from, from + depth, int64_t{1}, std::multiplies());
    if (!bounds) bounds.emplace();
    bounds->low = std::max(bounds->low, -size);
    bounds->high = std::min(bounds->high, size - 1);
  }
  return bounds;
}

}  // namespace

Array RandomElements(DataType type, std::vector<int64_t> shape, Values values, Random& random) {
  Array array(type, std::move(shape));
  if (IsFloat(type)) {
    FillFloats(array, values, random);
  } else if (type == DataType::kBool) {
    for (int64_t i = 0; i < array.size(); ++i)
      array.SetInt(i, static_cast<int64_t>(random.Below(2)));
  } else {
    FillIntegers(array, values, random);
  }
  return array;
}

Array RandomIntegers(DataType type, std::vector<int64_t> shape, int64_t low, int64_t high,
                     Random& random) {
  Array array(type, std::move(shape));
  low = std::max(low, SmallestInt(type));
  if (type != DataType::kU64) high = std::min(high, LargestInt(type));
  for (int64_t i = 0; i < array.size(); ++i)
    array.SetInt(i,
                 low + static_cast<int64_t>(random.Below(static_cast<uint64_t>(high - low) + 1)));
  return array;
}

void ForEachPosition(const std::vector<int64_t>& shape,
                     const std::function<void(const std::vector<int64_t>&, int64_t)>& visit) {
  const int64_t count = ElementCount(shape);
  std::vector<int64_t> position(shape.size(), 0);
  for (int64_t i = 0; i < count; ++i) {
    visit(position, i);
    for (size_t a = shape.size(); a-- > 0;) {
      if (++position[a] < shape[a]) break;
      position[a] = 0;
    }
  }
}

std::vector<Array> RandomInputs(const Graph& graph, Values values, uint64_t seed) {
  const ValueUsers users = graph.Users();
  std::vector<Array> inputs;
  for (const ValueId id : graph.inputs()) {
    const Value& value = graph.value(id);
    Random random(StreamSeed(seed, value.name));
    const std::optional<Bounds> bounds = IndexBounds(graph, id, users[id]);
    inputs.push_back(bounds ? RandomIntegers(value.type.type, value.type.Shape(), bounds->low,
                                             bounds->high, random)
                            : RandomElements(value.type.type, value.type.Shape(), values, random));
  }
  return inputs;
}

}  // namespace tunec::fuzz
