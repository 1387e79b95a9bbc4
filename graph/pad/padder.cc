#include "graph/pad/padder.h"

#include <algorithm>
#include <limits>

#include "graph/pad/size_constant.h"
#include "support/check.h"

namespace tunec::pad {

Padder::Padder(const Graph& exact, const Graph& bucket)
    : exact_(exact), bucket_(bucket), builder_(bucket.name()), values_(bucket.values().size()) {}

Extents Padder::ExtentsOf(ValueId value, size_t axis) const {
  return {exact_.value(value).type.dims[axis].size(), bucket_.value(value).type.dims[axis].size()};
}

std::vector<Extents> Padder::ShapeOf(ValueId value) const {
  std::vector<Extents> shape;
  for (size_t a = 0; a < bucket_.value(value).type.dims.size(); ++a)
    shape.push_back(ExtentsOf(value, a));
  return shape;
}

Status Padder::AddInputs(std::span<const OpenAxis> open) {
  std::map<std::string, int> parameters;
  for (size_t i = 0; i < bucket_.inputs().size(); ++i) {
    const ValueId id = bucket_.inputs()[i];
    const Value& value = bucket_.value(id);
    PaddedValue& input = at(id);
    TUNEC_ASSIGN(input.value, builder_.AddInput(value.name, value.type));
    if (!value.layout.IsRowMajor()) builder_.SetLayout(input.value, value.layout);
    for (const Extents extents : ShapeOf(id)) input.axes.push_back(Axis::Fixed(extents.padded));
    for (const OpenAxis& axis : open) {
      if (static_cast<size_t>(axis.input) != i) continue;
      TUNEC_ASSIGN(input.axes[axis.axis], OpenInput(axis, parameters));
    }
    for (size_t a = 0; a < input.axes.size(); ++a) {
      const Extents extents = ExtentsOf(id, a);
      if (input.axes[a].extents().exact == extents.exact) continue;
      return Fail(ErrorCode::kInvalidArgument,
                  "input {} axis {} has {} elements in one graph and {} in the other, and no name",
                  value.name, a, extents.exact, extents.padded);
    }
  }
  return {};
}

Result<Axis> Padder::OpenInput(const OpenAxis& axis, std::map<std::string, int>& parameters) {
  const Extents extents = ExtentsOf(bucket_.inputs()[axis.input], axis.axis);
  if (extents.exact > extents.padded || extents.exact < 1 ||
      extents.padded > std::numeric_limits<int32_t>::max())
    return Fail(ErrorCode::kInvalidArgument, "{} of dimension {} do not fit into {}", extents.exact,
                axis.dimension, extents.padded);
  const auto [found, is_new] =
      parameters.try_emplace(axis.dimension, static_cast<int>(sizes_.size()));
  if (is_new)
    sizes_.push_back({fmt::format("size.{}", axis.dimension), extents, axis.dimension, {}});
  const Extents known = sizes_[found->second].extents;
  if (known.exact != extents.exact || known.padded != extents.padded)
    return Fail(ErrorCode::kInvalidArgument, "dimension {} is {} of {} and {} of {}",
                axis.dimension, known.exact, known.padded, extents.exact, extents.padded);
  return Axis({Part{extents.padded, extents.exact, found->second}});
}

int Padder::SizeParameterFor(Extents extents) {
  for (size_t i = 0; i < sizes_.size(); ++i) {
    const Extents known = sizes_[i].extents;
    if (known.exact == extents.exact && known.padded == extents.padded) return static_cast<int>(i);
  }
  sizes_.push_back({fmt::format("size.{}", sizes_.size()), extents, "", {}});
  return static_cast<int>(sizes_.size()) - 1;
}

Part Padder::PartFor(Extents extents) {
  if (extents.exact == extents.padded) return {extents.padded, extents.exact};
  return {extents.padded, extents.exact, SizeParameterFor(extents)};
}

Result<ValueId> Padder::AddParameter(const std::string& name, Array value) {
  const std::vector<int64_t>& shape = value.shape();
  TUNEC_ASSIGN(const ValueId input,
               builder_.AddInput(name, {value.type(), {shape.begin(), shape.end()}}));
  used_.push_back({builder_.graph().value(input).name, std::move(value)});
  return input;
}

Result<ValueId> Padder::AddValueParameter(const std::string& what, Array exact) {
  return AddParameter(fmt::format("value.{}", what), std::move(exact));
}

Result<ValueId> Padder::SizeOf(int parameter) {
  Size& size = sizes_[parameter];
  if (!size.input.valid()) {
    TUNEC_ASSIGN(
        size.input,
        AddParameter(size.name, ScalarOf(DataType::kI32, static_cast<double>(size.extents.exact))));
  }
  return size.input;
}

void Padder::Mix(const Axis& axis) {
  for (const Part& part : axis.parts()) {
    if (part.IsOpen()) mixed_.insert(part.parameter);
  }
}

void Padder::MixWhatMeetsItself(const Axes& axes) {
  std::set<int> seen;
  for (const Axis& axis : axes) {
    for (const Part& part : axis.parts()) {
      if (part.IsOpen() && !seen.insert(part.parameter).second) mixed_.insert(part.parameter);
    }
  }
}

ValueId Padder::Positions(const Axis& axis, size_t part, size_t axes_behind) {
  std::vector<int64_t> key = {static_cast<int64_t>(part)};
  for (const Part& each : axis.parts()) key.push_back(each.padded);
  ValueId& positions = positions_[{std::move(key), axes_behind}];
  if (positions.valid()) return positions;
  std::vector<int64_t> shape(axes_behind + 1, 1);
  shape[0] = axis.extents().padded;
  Array array(DataType::kI32, shape);
  for (int64_t i = 0; i < shape[0]; ++i) array.SetInt(i, axis.Digits(i)[part]);
  positions = builder_.AddConstant("positions", std::move(array));
  return positions;
}

Result<ValueId> Padder::IsExact(const Axes& axes, const std::set<size_t>& along) {
  ValueId all;
  for (const size_t a : along) {
    const Axis& axis = axes[a];
    Mix(axis);
    for (size_t p = 0; p < axis.parts().size(); ++p) {
      if (!axis.parts()[p].IsOpen()) continue;
      TUNEC_ASSIGN(const ValueId size, SizeOf(axis.parts()[p].parameter));
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
  const DataType type = builder_.TypeOf(value.value).type;
  const ValueId other = builder_.AddConstant("neutral", ScalarOf(type, neutral));
  return builder_.Add(Op::kWhere, {is_exact, value.value, other});
}

Result<PaddedGraph> Padder::Finish() && {
  PaddedGraph result;
  for (size_t i = 0; i < bucket_.outputs().size(); ++i) {
    const PaddedValue& output = at(bucket_.outputs()[i]);
    builder_.AddOutput(output.value, bucket_.output_names()[i]);
    if (output.is_loose && !output.lies)
      return Fail(ErrorCode::kUnsupported, "output {} is a constant that depends on the sizes",
                  bucket_.output_names()[i]);
    std::vector<PaddedAxis>& axes = result.outputs.emplace_back();
    for (const Axis& axis : output.axes) {
      PaddedAxis& parts = axes.emplace_back();
      for (const Part& part : axis.parts()) parts.push_back({part.padded, part.exact});
    }
  }
  for (size_t i = 0; i < sizes_.size(); ++i) {
    const bool is_mixed = mixed_.contains(static_cast<int>(i));
    if (!is_mixed && !sizes_[i].dimension.empty()) result.separable.push_back(sizes_[i].dimension);
  }
  result.parameters = std::move(used_);
  result.graph = std::move(builder_).Build();
  return result;
}

}  // namespace tunec::pad
