#include <algorithm>
#include <cmath>

#include "graph/pad/padder.h"
#include "graph/pad/size_constant.h"

namespace tunec::pad {

PaddedNode::PaddedNode(Padder& padder, size_t number)
    : padder_(padder),
      number_(number),
      exact_(padder.exact().nodes()[number]),
      bucket_(padder.bucket().nodes()[number]) {
  for (const ValueId input : bucket_.inputs)
    inputs_.push_back(input.valid() ? padder.at(input) : PaddedValue{});
}

Result<Axis> PaddedNode::UnifyAxes(const Axis& a, const Axis& b) {
  std::optional<Axis> axis = padder_.Unify(a, b);
  if (!axis) return Reject("its operands lie differently along an axis");
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

// Ends the loose state of operand i, a constant, and marks its axes as mixed. The axes of `unified`
// with equal extents, aligned at the last axis, replace the operand's axes. This requires that the
// constant is embedded in these axes (IsEmbeddedIn). Otherwise the axes stay, or the node is
// rejected if `is_embedded` is false.
Status PaddedNode::Settle(size_t i, const Axes& unified) {
  PaddedValue& value = inputs_[i];
  Axes axes = value.axes;
  for (size_t a = 0; a < axes.size(); ++a) {
    const size_t behind = axes.size() - a;
    if (behind > unified.size()) continue;
    const Axis& other = unified[unified.size() - behind];
    const Extents own = axes[a].extents(), others = other.extents();
    if (own.exact == others.exact && own.padded == others.padded) axes[a] = other.Different();
  }
  const ValueId id = bucket_.inputs[i];
  if (IsEmbeddedIn(*padder_.exact().ConstantOf(id), *padder_.bucket().ConstantOf(id), axes)) {
    value.axes = std::move(axes);
  } else if (!value.is_embedded) {
    return Reject("a constant depends on the sizes");
  }
  value.is_loose = false;
  for (const Axis& axis : value.axes) padder_.Mix(axis);
  return {};
}

Result<Axes> PaddedNode::UnifyInputs(const std::vector<size_t>& inputs, size_t last, Axes with) {
  TUNEC_ASSIGN(Axes unified, Broadcast(inputs, last, false, with));
  for (size_t i = 0; i < last; ++i) unified.emplace_back();
  for (const size_t i : inputs) {
    if (Given(i) && inputs_[i].is_loose) TUNEC_RETURN_IF_ERROR(Settle(i, unified));
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
  if (HaveSameAttributes(exact, bucket)) return {};
  return Reject("an attribute depends on the sizes");
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

Series PaddedNode::OutputSeries(size_t axis, size_t output) const {
  return padder_.SeriesOf(bucket_.outputs[output], axis);
}

Series PaddedNode::Entries(std::string_view name, size_t entry) const {
  Series series;
  for (const Graph* graph : padder_.graphs())
    series.push_back(graph->nodes()[number_].Ints(name)[entry]);
  return series;
}

std::vector<double> PaddedNode::FloatEntries(std::string_view name, size_t entry) const {
  std::vector<double> entries;
  for (const Graph* graph : padder_.graphs())
    entries.push_back(graph->nodes()[number_].Floats(name)[entry]);
  return entries;
}

Result<Series> PaddedNode::Integers(std::string_view name) const {
  Series series;
  for (const Graph* graph : padder_.graphs()) {
    const double number = graph->nodes()[number_].Float(name);
    if (!(std::abs(number) < 0x1p53) || number != std::round(number))
      return Reject(fmt::format("its {} is no integer", name));
    series.push_back(static_cast<int64_t>(number));
  }
  return series;
}

Axis PaddedNode::NewAxis(size_t axis, const SizeExpression& formula) {
  Axis made({padder_.PartFor(OutputSeries(axis), formula)});
  padder_.Mix(made);  // may have a dimension's parameter, but has other positions
  return made;
}

// Callers use a `type` of at least 32 bits, because a 16-bit float may not represent the count.
Result<ValueId> PaddedNode::CountAlong(size_t i, const std::set<size_t>& axes, DataType type) {
  std::vector<Part> parts;
  for (const size_t a : axes) {
    const std::vector<Part>& own = inputs_[i].axes[a].parts();
    parts.insert(parts.end(), own.begin(), own.end());
  }
  const Axis all(parts);
  const Series count = padder_.SeriesOf(all);
  const Array exact = ScalarOf(type, static_cast<double>(count[0]));
  if (!Varies(count)) return builder().AddConstant("count", exact);
  return padder_.AddValueParameter(bucket_.name + ".count", exact, {padder_.FormulaOf(all)});
}

Result<ValueId> PaddedNode::CastTo(ValueId value, DataType type) {
  if (builder().TypeOf(value).type == type) return value;
  return builder().Add(Op::kCast, {value}, {{"to", std::string(Name(type))}},
                       bucket_.name + ".cast");
}

Result<std::vector<ValueId>> PaddedNode::Emit() {
  std::vector<ValueId> inputs;
  for (PaddedValue& input : inputs_) {
    if (input.is_loose && !input.is_embedded) return Reject("a constant depends on the sizes");
    inputs.push_back(input.value);
  }
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
