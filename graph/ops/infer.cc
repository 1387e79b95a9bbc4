#include "graph/ops/infer.h"

#include <algorithm>
#include <numeric>

#include "ir/sizes.h"
#include "support/check.h"

namespace tunec {
namespace {

static_assert(std::variant_size_v<Attribute> == 7, "AttributeKind numbers the alternatives");

const Attribute& Find(const InferenceInput& input, std::string_view name) {
  if (const auto found = input.attributes->find(name); found != input.attributes->end())
    return found->second;
  const AttributeSpec* spec = FindAttribute(input.op, name);
  TUNEC_CHECK(spec != nullptr && spec->absence == Absence::kDefault,
              "{} has no attribute {} and no default for it", Name(input.op), name);
  return spec->default_value;
}

/// Converts integers to floats, and an empty list of floats to integers, if `expected` requires it:
/// in text, `alpha=1` is an integer. Returns whether the value then has the type `expected`.
bool Coerce(Attribute& value, AttributeKind expected) {
  if (KindOf(value) == expected) return true;
  if (expected == AttributeKind::kFloat && KindOf(value) == AttributeKind::kInt) {
    value = static_cast<double>(std::get<int64_t>(value));
    return true;
  }
  if (expected == AttributeKind::kFloats && KindOf(value) == AttributeKind::kInts) {
    const auto ints = std::get<std::vector<int64_t>>(value);
    value = std::vector<double>(ints.begin(), ints.end());
    return true;
  }
  const auto* floats = std::get_if<std::vector<double>>(&value);
  if (expected == AttributeKind::kInts && floats != nullptr && floats->empty()) {
    value = std::vector<int64_t>{};
    return true;
  }
  return false;
}

bool IsSizeFor(const Attribute& value, const AttributeSpec& spec) {
  const AttributeKind kind = KindOf(value);
  if (spec.kind == AttributeKind::kInts) return spec.takes_sizes && kind == AttributeKind::kSizes;
  const bool is_number = spec.kind == AttributeKind::kInt || spec.kind == AttributeKind::kFloat;
  return spec.takes_sizes && is_number && kind == AttributeKind::kSize;
}

Status CheckAttributes(const OpSpec& spec, Attributes& attributes) {
  for (auto& [name, value] : attributes) {
    const AttributeSpec* attribute = FindAttribute(spec.op, name);
    if (attribute == nullptr)
      return Fail(ErrorCode::kInvalidArgument, "{} has no attribute {}", Name(spec.op), name);
    if (!SizesOf(value).empty()) {
      if (!std::ranges::all_of(SizesOf(value), &SizeExpr::IsKnown))
        return Fail(ErrorCode::kInvalidArgument,
                    "{} attribute {} contains a size that is divided by 0, or beyond 2^60",
                    Name(spec.op), name);
      value = Substitute(value, {});
    }
    if (!IsSizeFor(value, *attribute) && !Coerce(value, attribute->kind))
      return Fail(ErrorCode::kInvalidArgument, "{} attribute {} is {}, expected {}", Name(spec.op),
                  name, Name(KindOf(value)), Name(attribute->kind));
  }
  for (const AttributeSpec& attribute : spec.attributes)
    if (attribute.absence == Absence::kError && !attributes.contains(attribute.name))
      return Fail(ErrorCode::kInvalidArgument, "{} needs the attribute {}", Name(spec.op),
                  attribute.name);
  return {};
}

std::string CountText(int least, int most) {
  if (most == kAnyNumber) return fmt::format("at least {}", least);
  return least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
}

Status CheckOperands(const OpSpec& spec, const std::vector<const ValueType*>& operands) {
  const auto count = static_cast<int>(operands.size());
  if (count < spec.min_inputs || count > spec.max_inputs)
    return Fail(ErrorCode::kInvalidArgument, "{} has {} operands, expected {}", Name(spec.op),
                count, CountText(spec.min_inputs, spec.max_inputs));
  for (int i = 0; i < count; ++i) {
    if (operands[i] == nullptr) {
      if (i < spec.min_inputs)
        return Fail(ErrorCode::kInvalidArgument, "{} operand {} is omitted, but required",
                    Name(spec.op), i);
    } else if (!Contains(spec.domain, operands[i]->type)) {
      return Fail(ErrorCode::kInvalidArgument, "{} operand {} is {}, expected {}", Name(spec.op), i,
                  Name(operands[i]->type), Name(spec.domain));
    }
  }
  return {};
}

/// Checks the fixed sizes of a result, so that their product cannot overflow.
Status CheckSize(Op op, const ValueType& type) {
  if (!IsPossible(type))
    return Fail(ErrorCode::kInvalidArgument,
                "{} result is {}, expected sizes of at least 0 and at most 2^48 elements", Name(op),
                ShapeText(type.dims));
  return {};
}

}  // namespace

int64_t InferenceInput::Int(std::string_view name) const {
  return std::get<int64_t>(Find(*this, name));
}
double InferenceInput::Float(std::string_view name) const {
  return std::get<double>(Find(*this, name));
}
const std::string& InferenceInput::String(std::string_view name) const {
  return std::get<std::string>(Find(*this, name));
}
const std::vector<int64_t>& InferenceInput::Ints(std::string_view name) const {
  return std::get<std::vector<int64_t>>(Find(*this, name));
}

namespace {

// Returns whether a condition follows from one that was assumed.
bool IsImplied(const SizeCondition& condition, const std::vector<SizeCondition>& assumed) {
  constexpr int kMostSteps = 8;  // a proof is short, since there may be many conditions
  if (condition.kind != SizeCondition::Kind::kAtMost) return false;
  return std::ranges::any_of(assumed, [&](const SizeCondition& other) {
    return other.kind == condition.kind &&
           ProveAtMost(other.right - other.left, condition.right - condition.left, {}, kMostSteps);
  });
}

}  // namespace

bool InferenceInput::Allows(SizeCondition::Kind kind, const SizeExpr& left,
                            const SizeExpr& right) const {
  const SizeCondition condition{kind, left, right};
  const Decision decision = Decide(condition, {});
  constexpr size_t kMostCompared = 256;  // beyond it, implied conditions are also listed
  if (decision == Decision::kOpen && conditions != nullptr &&
      (conditions->size() > kMostCompared || !IsImplied(condition, *conditions)))
    conditions->push_back(condition);
  return decision != Decision::kFalse;
}

SizeExpr InferenceInput::Size(std::string_view name) const { return ReadSize(Find(*this, name)); }
std::vector<SizeExpr> InferenceInput::Sizes(std::string_view name) const {
  return ReadSizes(Find(*this, name));
}

Result<std::vector<ValueType>> Infer(Op op, const std::vector<const ValueType*>& operands,
                                     Attributes& attributes,
                                     std::span<const std::shared_ptr<const Graph>> bodies,
                                     std::vector<SizeCondition>* conditions) {
  const OpSpec& spec = SpecOf(op);
  TUNEC_RETURN_IF_ERROR(CheckOperands(spec, operands));
  TUNEC_RETURN_IF_ERROR(CheckAttributes(spec, attributes));
  if (KindOf(op) != OpKind::kControl && !bodies.empty())
    return Fail(ErrorCode::kInvalidArgument, "{} has {} nested graphs, expected none", Name(op),
                bodies.size());
  const InferenceInput input{op, operands, &attributes, bodies, conditions};
  TUNEC_ASSIGN(std::vector<ValueType> outputs, spec.infer(input));
  for (const ValueType& output : outputs) {
    TUNEC_RETURN_IF_ERROR(CheckSize(op, output));
    for (const Dim& dim : output.dims) {
      if (dim.IsConstant() || input.Allows(SizeCondition::Kind::kAtMost, 0, dim)) continue;
      return Fail(ErrorCode::kInvalidArgument, "{} result is {}, expected sizes of at least 0",
                  Name(op), ShapeText(output.dims));
    }
  }
  return outputs;
}

Result<std::vector<Dim>> Broadcast(const InferenceInput& input, const std::vector<Dim>& a,
                                   const std::vector<Dim>& b) {
  using Kind = SizeCondition::Kind;
  const size_t rank = std::max(a.size(), b.size());
  std::vector<Dim> result(rank, Dim(1));
  for (size_t i = 0; i < rank; ++i) {  // dimensions counted from the last one
    const Dim left = i < a.size() ? a[a.size() - 1 - i] : Dim(1);
    const Dim right = i < b.size() ? b[b.size() - 1 - i] : Dim(1);
    // The result is never a 1 beside another size, and is a number beside a named size.
    const bool takes_right = left == Dim(1) || (right.IsConstant() && right != Dim(1));
    const Dim& dim = result[rank - 1 - i] = takes_right ? right : left;
    const Dim& other = takes_right ? left : right;
    if (other == Dim(1)) continue;
    if (!input.Allows(dim.IsConstant() ? Kind::kBroadcasts : Kind::kEqual, other, dim)) {
      return Fail(ErrorCode::kInvalidArgument, "shapes {} and {} do not broadcast: {} against {}",
                  ShapeText(a), ShapeText(b), DimText(left), DimText(right));
    }
  }
  return result;
}

bool BroadcastsTo(const InferenceInput& input, const std::vector<Dim>& from,
                  const std::vector<Dim>& to) {
  if (from.size() > to.size()) return false;
  const size_t more = to.size() - from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    if (!input.Allows(SizeCondition::Kind::kBroadcasts, from[i], to[more + i])) return false;
  }
  return true;
}

Result<int64_t> NormaliseAxis(int64_t axis, size_t rank, Op op) {
  const auto size = static_cast<int64_t>(rank);
  if (axis < -size || axis >= size)
    return Fail(ErrorCode::kInvalidArgument, "{} axis is {}, expected {} to {}", Name(op), axis,
                -size, size - 1);
  return axis < 0 ? axis + size : axis;
}

Result<int64_t> CompleteAxis(const InferenceInput& input, size_t rank) {
  TUNEC_ASSIGN(const int64_t axis, NormaliseAxis(input.Int("axis"), rank, input.op));
  (*input.attributes)["axis"] = axis;
  return axis;
}

Result<std::vector<int64_t>> CompleteAxes(const InferenceInput& input, size_t rank) {
  std::vector<int64_t> axes;
  if (input.Has("axes")) axes = input.Ints("axes");
  if (axes.empty()) {
    axes.resize(rank);
    std::iota(axes.begin(), axes.end(), 0);
  }
  for (int64_t& axis : axes) {
    TUNEC_ASSIGN(axis, NormaliseAxis(axis, rank, input.op));
  }
  std::sort(axes.begin(), axes.end());
  if (const auto twice = std::adjacent_find(axes.begin(), axes.end()); twice != axes.end())
    return Fail(ErrorCode::kInvalidArgument, "{} axes name axis {} twice", Name(input.op), *twice);
  (*input.attributes)["axes"] = axes;
  return axes;
}

bool IsPossible(const ValueType& type) {
  std::vector<int64_t> fixed;
  for (const Dim& dim : type.dims) {
    if (!dim.IsKnown()) return false;
    if (dim.IsConstant()) fixed.push_back(dim.Value());
  }
  return IsShape(fixed);
}

Status RequireFixed(const InferenceInput& input, size_t operand) {
  if (input.operand(operand).IsFixed()) return {};
  return Fail(ErrorCode::kUnsupported, "{} operand {} is {}, expected fixed sizes", Name(input.op),
              operand, ShapeText(input.operand(operand).dims));
}

Status RequireRank(const InferenceInput& input, size_t operand, size_t least, size_t most) {
  const auto& dims = input.operand(operand).dims;
  if (dims.size() >= least && dims.size() <= most) return {};
  const std::string expected =
      least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
  return Fail(ErrorCode::kInvalidArgument, "{} operand {} is {}, of rank {}, expected rank {}",
              Name(input.op), operand, ShapeText(dims), dims.size(), expected);
}

Status RequireSameType(const InferenceInput& input, size_t operand) {
  if (input.operand(operand).type == input.operand(0).type) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "{} operand types differ: operand 0 is {}, operand {} is {}", Name(input.op),
              Name(input.operand(0).type), operand, Name(input.operand(operand).type));
}

Status RequireSameOrWiderType(const InferenceInput& input, size_t operand) {
  const DataType given = input.operand(operand).type;
  if (IsFloat(given) && SizeOf(given) > SizeOf(input.operand(0).type)) return {};
  return RequireSameType(input, operand);
}

Result<DataType> TypeAttribute(const InferenceInput& input, std::string_view name) {
  const std::string& text = input.String(name);
  const std::optional<DataType> type = ParseDataType(text);
  if (!type)
    return Fail(ErrorCode::kInvalidArgument,
                "{} attribute {} is \"{}\", expected a type such as f32", Name(input.op), name,
                text);
  return *type;
}

Result<std::vector<ValueType>> InferInput(const InferenceInput& input) {
  return Fail(ErrorCode::kInvalidArgument, "{} is not added as a computing node", Name(input.op));
}

}  // namespace tunec
