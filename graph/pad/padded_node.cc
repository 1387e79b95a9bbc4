#include <algorithm>

#include "graph/pad/padder.h"

namespace tunec::pad {

PaddedNode::PaddedNode(Padder& padder, const Node& exact, const Node& bucket)
    : padder_(padder), exact_(exact), bucket_(bucket) {
  for (const ValueId input : bucket.inputs)
    inputs_.push_back(input.valid() ? padder.at(input) : PaddedValue{});
}

Result<Axis> PaddedNode::UnifyAxes(const Axis& a, const Axis& b) {
  std::optional<Axis> axis = Unify(a, b);
  if (!axis) return Refuse("its operands lie differently along an axis");
  return *std::move(axis);
}

Result<Axes> PaddedNode::Broadcast(const std::vector<size_t>& inputs, size_t last, bool loose,
                                   Axes with) {
  Axes result = std::move(with);
  for (const size_t i : inputs) {
    if (!Given(i) || (inputs_[i].is_loose && !loose)) continue;
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

// `wanted` counts from the last axis, as broadcasting does.
Status PaddedNode::Settle(size_t i, const Axes& wanted) {
  PaddedValue& value = inputs_[i];
  Axes axes = value.axes;
  for (size_t a = 0; a < axes.size(); ++a) {
    const size_t behind = axes.size() - a;
    if (behind > wanted.size()) continue;
    const Axis& other = wanted[wanted.size() - behind];
    const Extents own = axes[a].extents(), others = other.extents();
    if (own.exact == others.exact && own.padded == others.padded) axes[a] = other.Different();
  }
  const ValueId id = bucket_.inputs[i];
  if (LiesIn(*padder_.exact().ConstantOf(id), *padder_.bucket().ConstantOf(id), axes)) {
    value.axes = std::move(axes);
  } else if (!value.lies) {
    return Refuse("a constant depends on the sizes");
  }
  value.is_loose = false;
  for (const Axis& axis : value.axes) padder_.Mix(axis);
  return {};
}

Result<Axes> PaddedNode::UnifyInputs(const std::vector<size_t>& inputs, size_t last, Axes with) {
  TUNEC_ASSIGN(Axes wanted, Broadcast(inputs, last, false, with));
  for (size_t i = 0; i < last; ++i) wanted.emplace_back();
  for (const size_t i : inputs) {
    if (Given(i) && inputs_[i].is_loose) TUNEC_RETURN_IF_ERROR(Settle(i, wanted));
  }
  return Broadcast(inputs, last, true, std::move(with));
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

Status PaddedNode::RequireSameAttributes(const std::set<std::string_view>& but) const {
  Attributes exact = exact_.attributes, bucket = bucket_.attributes;
  for (const std::string_view name : but) {
    for (Attributes* attributes : {&exact, &bucket}) {
      const auto found = attributes->find(name);
      if (found != attributes->end()) attributes->erase(found);
    }
  }
  if (SameAttributes(exact, bucket)) return {};
  return Refuse("an attribute depends on the sizes");
}

Status PaddedNode::RequireFixed(size_t i, size_t a) const {
  if (!inputs_[i].axes[a].IsOpen()) return {};
  return Refuse(fmt::format("it mixes elements along axis {} of operand {}", a, i));
}

std::unexpected<Error> PaddedNode::Refuse(std::string_view why) const {
  return Fail(ErrorCode::kUnsupported, "node {} ({}) cannot be padded: {}", bucket_.name,
              Name(bucket_.op), why);
}

std::vector<Extents> PaddedNode::OutputShape(size_t output) const {
  return padder_.ShapeOf(bucket_.outputs[output]);
}

Axis PaddedNode::NewAxis(size_t axis, size_t output) {
  Axis made({padder_.PartFor(padder_.ExtentsOf(bucket_.outputs[output], axis))});
  padder_.Mix(made);  // a dimension of these extents has other positions
  return made;
}

Result<std::vector<ValueId>> PaddedNode::Emit() {
  std::vector<ValueId> inputs;
  for (PaddedValue& input : inputs_) {
    if (input.is_loose && !input.lies) return Refuse("a constant depends on the sizes");
    inputs.push_back(input.value);
  }
  if (result_.valid()) return std::vector<ValueId>{result_};
  return builder().CopyNode(padder_.bucket(), bucket_, std::move(inputs));
}

}  // namespace tunec::pad
