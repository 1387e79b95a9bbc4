#include "graph/pad/padder.h"

#include <algorithm>
#include <limits>

#include "graph/follow_data.h"
#include "graph/pad/size_constant.h"
#include "support/check.h"

namespace tunec::pad {
namespace {

/// Returns an input's name for a size: `size.n` for a named size, else `size.3` with a number.
std::string NameOf(const SizeExpr& size, DataType type, size_t number) {
  std::string name = fmt::format("size.{}", size.AsName().value_or(std::to_string(number)));
  return type == DataType::kI32 ? name : fmt::format("{}.{}", name, Name(type));
}

}  // namespace

Padder::Padder(const Graph& named, const Graph& bucket, const SizeValues& sizes)
    : named_(named),
      bucket_(bucket),
      is_data_(ValuesOfData(bucket)),
      builder_(bucket.name()),
      values_(bucket.values().size()) {
  for (const auto& [name, size] : sizes) ranges_[name] = {1, size};
}

Status Padder::AddInputs() {
  for (const ValueId id : bucket_.inputs()) {
    const Value& value = bucket_.value(id);
    PaddedValue& input = at(id);
    TUNEC_ASSIGN(input.value, builder_.AddInput(value.name, value.type));
    if (!value.layout.IsRowMajor()) builder_.SetLayout(input.value, value.layout);
    for (const Extents& extents : ShapeOf(id)) input.axes.push_back(Axis({Part{extents}}));
    for (const Dim& dim : named_.value(id).type.dims) input_names_.merge(dim.Names());
    if (!RequireBounds(input.axes))
      return Fail(ErrorCode::kUnsupported, "input {} has no size that fits", value.name);
  }
  return {};
}

std::vector<Extents> Padder::ShapeOf(ValueId value) const {
  std::vector<Extents> shape;
  const std::vector<Dim>& exact = named_.value(value).type.dims;
  const std::vector<Dim>& padded = bucket_.value(value).type.dims;
  for (size_t a = 0; a < padded.size(); ++a) shape.push_back({padded[a].Value(), exact[a]});
  return shape;
}

bool Padder::IsProved(const SizeCondition& condition) const {
  return Decide(condition, ranges_) == Decision::kTrue;
}

bool Padder::Require(const SizeCondition& condition) {
  if (condition.left == condition.right || required_.contains(condition)) return true;
  const Decision decision = Decide(condition, ranges_);
  if (decision == Decision::kFalse) return false;
  required_.insert(condition);
  if (decision == Decision::kOpen) conditions_.push_back(condition);
  return true;
}

bool Padder::RequireBounds(const Axes& axes) {
  return std::ranges::all_of(axes, [&](const Axis& axis) {
    return std::ranges::all_of(axis.parts(), [&](const Part& part) {
      return Require(AtMost(1, part.exact)) && Require(AtMost(part.exact, part.padded));
    });
  });
}

void Padder::MixNames(const SizeExpr& size) { mixed_.merge(size.Names()); }

void Padder::Mix(const Axis& axis) {
  for (const Part& part : axis.parts()) MixNames(part.exact);
}

void Padder::MixWhatMeetsItself(const Axes& axes) {
  std::set<std::string> seen;
  for (const Axis& axis : axes) {
    for (const Part& part : axis.parts()) {
      for (const std::string& name : part.exact.Names())
        if (!seen.insert(name).second) mixed_.insert(name);
    }
  }
}

std::optional<Axis> Padder::Unify(const Axis& a, const Axis& b) {
  std::optional<Axis> axis = pad::Unify(a, b, Requires());
  const bool is_same = a.parts().empty() || b.parts().empty() || a.exact() == b.exact();
  if (!axis || is_same) return axis;
  Mix(a);
  Mix(b);
  return axis;
}

Result<ValueId> Padder::Input(const SizeExpr& size, DataType type) {
  ValueId& input = inputs_[{size, type}];
  if (input.valid()) return input;
  if (type == DataType::kI32 && !Require(AtMost(size, std::numeric_limits<int32_t>::max())))
    return Fail(ErrorCode::kUnsupported, "a size is not below 2^31");
  TUNEC_ASSIGN(input, builder_.AddInput(NameOf(size, type, parameters_.size()), {type, {}}));
  parameters_.push_back({builder_.graph().value(input).name, type, size});
  return input;
}

Result<ValueId> Padder::Number(const SizeExpr& size, DataType type) {
  if (const std::optional<int64_t> number = size.AsConstant())
    return builder_.AddConstant("number", ScalarOf(type, static_cast<double>(*number)));
  MixNames(size);
  return Input(size, type);
}

Result<ValueId> Padder::CountOf(const SizeExpr& size) {
  if (size.IsConstant()) return Number(size, DataType::kI64);
  TUNEC_ASSIGN(const ValueId count, Number(size, DataType::kI32));
  return builder_.Add(Op::kCast, {count}, {{"to", std::string(Name(DataType::kI64))}});
}

ValueId Padder::Positions(const Axis& axis, size_t part, size_t axes_behind) {
  std::vector<int64_t> key = {static_cast<int64_t>(part)};
  for (const Part& each : axis.parts()) key.push_back(each.padded);
  ValueId& positions = positions_[{std::move(key), axes_behind}];
  if (positions.valid()) return positions;
  std::vector<int64_t> shape(axes_behind + 1, 1);
  shape[0] = axis.padded();
  Array array(DataType::kI32, shape);
  for (int64_t i = 0; i < shape[0]; ++i) array.SetInt(i, axis.Digits(i)[part]);
  positions = builder_.AddConstant("positions", std::move(array));
  return positions;
}

Result<ValueId> Padder::IsExact(const Axes& axes, const std::set<size_t>& along) {
  for (const size_t a : along) Mix(axes[a]);
  return IsWithin(axes, along);
}

Result<ValueId> Padder::IsWithin(const Axes& axes, const std::set<size_t>& along) {
  ValueId all;
  for (const size_t a : along) {
    const Axis& axis = axes[a];
    for (size_t p = 0; p < axis.parts().size(); ++p) {
      if (!axis.parts()[p].IsOpen()) continue;
      TUNEC_ASSIGN(const ValueId size, Input(axis.parts()[p].exact, DataType::kI32));
      TUNEC_ASSIGN(const ValueId one,
                   builder_.Add(Op::kLt, {Positions(axis, p, axes.size() - 1 - a), size}));
      if (!all.valid()) {
        all = one;
        continue;
      }
      TUNEC_ASSIGN(all, builder_.Add(Op::kAnd, {all, one}));
    }
  }
  TUNEC_CHECK(all.valid(), "no axis is open");
  return all;
}

Result<ValueId> Padder::Mask(const PaddedValue& value, const std::set<size_t>& along,
                             double neutral) {
  TUNEC_ASSIGN(const ValueId is_exact, IsExact(value.axes, along));
  return Choose(is_exact, value.value, neutral);
}

Result<ValueId> Padder::Choose(ValueId is_exact, ValueId value, double neutral) {
  const DataType type = builder_.TypeOf(value).type;
  const ValueId other = builder_.AddConstant("neutral", ScalarOf(type, neutral));
  return builder_.Add(Op::kWhere, {is_exact, value, other});
}

// Marks no size as mixed: a part of a split run has zeros at other positions than the complete run,
// but never at exact positions. Does not mask repeated axes, because all elements along such an
// axis equal an exact element.
Result<ValueId> Padder::ZeroBeyond(const PaddedValue& value) {
  std::set<size_t> open;
  for (size_t a = 0; a < value.axes.size(); ++a) {
    if (value.axes[a].IsOpen() && !value.axes[a].is_repeated()) open.insert(a);
  }
  if (open.empty()) return value.value;
  TUNEC_ASSIGN(const ValueId is_exact, IsWithin(value.axes, open));
  return Choose(is_exact, value.value, 0);
}

bool Padder::IsComputed(ValueId value) const {
  return is_data_[value.index] && bucket_.producer(SourceOf(bucket_, value)).op != Op::kInput;
}

Result<PaddedGraph> Padder::Finish() && {
  PaddedGraph result;
  for (size_t i = 0; i < bucket_.outputs().size(); ++i) {
    const PaddedValue& output = at(bucket_.outputs()[i]);
    builder_.AddOutput(output.value, bucket_.output_names()[i]);
    std::vector<PaddedAxis>& axes = result.outputs.emplace_back();
    for (const Axis& axis : output.axes)
      axes.emplace_back(axis.parts().begin(), axis.parts().end());
  }
  for (const SizeCondition& condition : conditions_) {
    MixNames(condition.left);
    MixNames(condition.right);
  }
  for (const std::string& name : input_names_)
    if (!mixed_.contains(name)) result.separable.insert(name);
  result.parameters = std::move(parameters_);
  result.conditions = std::move(conditions_);
  result.graph = std::move(builder_).Build();
  return result;
}

}  // namespace tunec::pad
