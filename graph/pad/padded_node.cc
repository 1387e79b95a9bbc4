#include <algorithm>
#include <utility>

#include "graph/ops/attributes.h"
#include "graph/pad/padder.h"

namespace tunec::pad {

PaddedNode::PaddedNode(Padder& padder, size_t number)
    : padder_(padder),
      named_(padder.named().nodes()[number]),
      bucket_(padder.bucket().nodes()[number]) {
  for (const ValueId input : bucket_.inputs)
    inputs_.push_back(input.valid() ? padder.at(input) : PaddedValue{});
}

Result<Axis> PaddedNode::UnifyAxes(const Axis& a, const Axis& b) {
  std::optional<Axis> axis = padder_.Unify(a, b);
  if (!axis) return Reject("its operands lie differently along an axis");
  return *std::move(axis);
}

Result<Axes> PaddedNode::UnifyInputs(const std::vector<size_t>& inputs, size_t last, Axes with) {
  Axes result = std::move(with);
  for (const size_t i : inputs) {
    if (!Given(i)) continue;
    Axes axes = inputs_[i].axes;
    axes.resize(axes.size() - std::min(last, axes.size()));
    if (axes.size() > result.size()) std::swap(axes, result);
    const size_t skip = result.size() - axes.size();
    for (size_t a = 0; a < axes.size(); ++a) {
      TUNEC_ASSIGN(result[skip + a], UnifyAxes(result[skip + a], axes[a]));
    }
  }
  return result;
}

bool PaddedNode::HasSamePositions(const Axis& axis, const Axis& data) {
  if (axis.padded() == data.padded() && axis.exact() == data.exact())
    return padder_.Unify(axis, data).has_value();
  return axis.IsPrefix() && data.IsPrefix() && axis.padded() <= data.padded() &&
         padder_.Require(AtMost(axis.exact(), data.exact()));
}

Status PaddedNode::MaskInput(size_t i, const std::set<size_t>& along, double neutral) {
  PaddedValue& value = inputs_[i];
  std::set<size_t> open;
  for (const size_t a : along) {
    if (!value.axes[a].IsOpen()) continue;
    padder_.Mix(value.axes[a]);
    if (neutral == 0 && value.zero_beyond.contains(a)) continue;
    open.insert(a);
  }
  if (open.empty()) return {};
  TUNEC_ASSIGN(value.value, padder_.Mask(value, open, neutral));
  return {};
}

Status PaddedNode::RequireFixedAttributes(const std::set<std::string_view>& but) const {
  for (const auto& [name, attribute] : named_.attributes) {
    if (SizesOf(attribute).empty() || but.contains(name)) continue;
    return Reject(fmt::format("its {} depends on the sizes", name));
  }
  return {};
}

Status PaddedNode::RequireFixed(size_t i, size_t a) const {
  if (!inputs_[i].axes[a].IsOpen()) return {};
  return Reject(fmt::format("it mixes elements along axis {} of operand {}", a, i));
}

std::unexpected<Error> PaddedNode::Reject(std::string_view why) const {
  return Fail(ErrorCode::kUnsupported, "node {} ({}) cannot be padded: {}", bucket_.name,
              Name(bucket_.op), why);
}

std::vector<Extents> PaddedNode::OutputShape(size_t output) const {
  return padder_.ShapeOf(bucket_.outputs[output]);
}

SizeExpr PaddedNode::Size(std::string_view name) const {
  return ReadSize(named_.attributes.find(name)->second);
}

std::vector<SizeExpr> PaddedNode::Sizes(std::string_view name) const {
  return ReadSizes(named_.attributes.find(name)->second);
}

Axis PaddedNode::NewAxis(size_t axis) {
  Axis made({Part{OutputShape()[axis]}});
  padder_.Mix(made);
  return made;
}

// Callers use a `type` of at least 32 bits, because a 16-bit float may not represent the count.
Result<ValueId> PaddedNode::CountAlong(size_t i, const std::set<size_t>& axes, DataType type) {
  SizeExpr count = 1;
  for (const size_t a : axes) count = count * inputs_[i].axes[a].exact();
  return padder_.Number(count, type);
}

Result<ValueId> PaddedNode::CastTo(ValueId value, DataType type) {
  if (builder().TypeOf(value).type == type) return value;
  return builder().Add(Op::kCast, {value}, {{"to", std::string(Name(type))}},
                       bucket_.name + ".cast");
}

Result<std::vector<ValueId>> PaddedNode::Emit() {
  std::vector<ValueId> inputs;
  for (const PaddedValue& input : inputs_) inputs.push_back(input.value);
  if (result_.valid()) return std::vector<ValueId>{result_};
  if (attributes_) {
    while (!inputs.empty() && !inputs.back().valid()) inputs.pop_back();
    TUNEC_ASSIGN(const ValueId value,
                 builder().Add(bucket_.op, std::move(inputs), *attributes_, bucket_.name));
    return std::vector<ValueId>{value};
  }
  return builder().CopyNode(padder_.bucket(), bucket_, std::move(inputs));
}

}  // namespace tunec::pad
