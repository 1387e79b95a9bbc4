#include "graph/random_inputs.h"

#include <cmath>
#include <limits>

#include "graph/count_graph.h"
#include "ir/allocate_array.h"
#include "support/random.h"

namespace tunec {
namespace {

/// Returns whether the operator is a view or a cast, whose output has elements of the first input.
bool PassesValuesOn(Op op) { return IsView(op) || op == Op::kCast; }

/// Returns the number of positions that a scatter's index can select, which is the product of the
/// indexed extents.
int64_t CountScatterPositions(const Graph& graph, const Node& node) {
  int64_t positions = 1;
  for (int64_t d = 0; d < node.Int("depth"); ++d)
    positions *= graph.value(node.inputs[0]).type.dims[node.Int("axis") + d].Value();
  return positions;
}

/// Returns the smallest positive number of positions from which a user selects by the value's
/// elements. Follows views and casts. Returns 0 if there is no such user.
int64_t IndexBound(const Graph& graph, const ValueUsers& users, ValueId value) {
  int64_t bound = 0;
  const auto lower = [&](int64_t size) {
    if (size > 0 && (bound == 0 || size < bound)) bound = size;
  };
  for (const NodeId user : users[value]) {
    const Node& node = graph.node(user);
    if (PassesValuesOn(node.op) && node.inputs[0] == value)
      lower(IndexBound(graph, users, node.outputs[0]));
    const bool gathers = node.op == Op::kGather || node.op == Op::kGatherElements;
    if (gathers && node.inputs[1] == value)
      lower(graph.value(node.inputs[0]).type.dims[node.Int("axis")].Value());
    if (node.op == Op::kScatter && node.inputs[1] == value)
      lower(CountScatterPositions(graph, node));
    if (node.op == Op::kOneHot && node.inputs[0] == value) lower(node.Int("depth"));
  }
  return bound;
}

/// A range of exponents of 2. `last` itself is not included.
struct ExponentRange {
  int first;
  int last;
};
ExponentRange DenormalExponents(DataType type) {
  if (type == DataType::kF16) return {-24, -14};
  if (type == DataType::kBF16) return {-133, -126};
  return type == DataType::kF64 ? ExponentRange{-1074, -1022} : ExponentRange{-149, -126};
}

double OfExponents(ExponentRange range, Random& random) {
  const auto exponent =
      static_cast<int>(random.Below(static_cast<uint64_t>(range.last - range.first)));
  const double sign = random.Below(2) == 0 ? 1 : -1;
  return std::ldexp(sign * (1.0 + random.Unit()), range.first + exponent);
}

double RandomFloat(InputKind kind, DataType type, Random& random) {
  switch (kind) {
    case InputKind::kLargeMean:
      return 999.0 + 2.0 * random.Unit();
    case InputKind::kWide:
      return OfExponents(type == DataType::kF16 ? ExponentRange{-8, 8} : ExponentRange{-20, 20},
                         random);
    case InputKind::kTies: {
      const double half = 0.5 * static_cast<double>(random.Below(3));
      return random.Below(2) == 0 ? half : -half;
    }
    case InputKind::kDenormal:
      return OfExponents(DenormalExponents(type), random);
    case InputKind::kUniform:
    case InputKind::kInfinity:
    case InputKind::kNan:
      break;
  }
  return 2.0 * random.Unit() - 1.0;
}

void FillWithFloats(Array& array, InputKind kind, Random random) {
  for (int64_t i = 0; i < array.size(); ++i)
    array.SetDouble(i, RandomFloat(kind, array.type(), random));
  if (array.size() == 0) return;
  const auto position = static_cast<int64_t>(random.Below(static_cast<uint64_t>(array.size())));
  if (kind == InputKind::kInfinity)
    array.SetDouble(position, std::numeric_limits<double>::infinity());
  if (kind == InputKind::kNan) array.SetDouble(position, std::numeric_limits<double>::quiet_NaN());
}

Result<Array> RandomArray(const Value& value, uint64_t bound, InputKind kind, Random random) {
  const DataType type = value.type.type;
  TUNEC_ASSIGN(Array array, AllocateArray(type, value.type.Shape(), "input " + value.name));
  if (IsFloat(type)) {
    FillWithFloats(array, kind, random);
  } else {
    for (int64_t i = 0; i < array.size(); ++i)
      array.SetInt(i, static_cast<int64_t>(random.Below(bound)));
  }
  return array;
}

constexpr InputKind kKinds[] = {InputKind::kUniform, InputKind::kLargeMean, InputKind::kWide,
                                InputKind::kTies,    InputKind::kDenormal,  InputKind::kInfinity,
                                InputKind::kNan};

}  // namespace

std::span<const InputKind> AllInputKinds() { return kKinds; }

std::string_view Name(InputKind kind) {
  switch (kind) {
    case InputKind::kUniform:
      return "[-1, 1)";
    case InputKind::kLargeMean:
      return "a large mean";
    case InputKind::kWide:
      return "wide exponents";
    case InputKind::kTies:
      return "ties";
    case InputKind::kDenormal:
      return "denormals";
    case InputKind::kInfinity:
      return "an infinity";
    case InputKind::kNan:
      return "a NaN";
  }
  return "";
}

Result<std::vector<Array>> RandomInputs(const Graph& graph, uint64_t seed, InputKind kind) {
  const ValueUsers users = graph.Users();
  std::vector<Array> inputs;
  for (const ValueId input : graph.inputs()) {
    const Value& value = graph.value(input);
    const int64_t bound = IndexBound(graph, users, input);
    TUNEC_ASSIGN(Array array, RandomArray(value, bound > 0 ? static_cast<uint64_t>(bound) : 2, kind,
                                          Random(StreamSeed(seed, value.name))));
    inputs.push_back(std::move(array));
  }
  return inputs;
}

}  // namespace tunec
