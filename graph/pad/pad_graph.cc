#include "graph/pad/pad_graph.h"

#include <algorithm>

#include "graph/pad/padder.h"
#include "graph/specialize.h"

namespace tunec {
namespace {

using pad::PaddedNode;
using pad::PaddedValue;
using pad::Padder;

Status RequireElements(const Graph& bucket) {
  for (const Value& value : bucket.values()) {
    if (value.type.Elements() == 0)
      return Fail(ErrorCode::kUnsupported, "value {} has no elements", value.name);
  }
  for (const Node& node : bucket.nodes()) {
    if (!node.bodies.empty())
      return Fail(ErrorCode::kUnsupported, "node {} has nested graphs", node.name);
  }
  return {};
}

/// Checks the axes that the node's rule returned. The padded extents must be the bucket's, and the
/// exact extents those of the graph with names.
Status CheckExtents(const PaddedNode& node, const std::vector<PaddedValue>& outputs) {
  for (size_t o = 0; o < outputs.size(); ++o) {
    const std::vector<pad::Extents> shape = node.OutputShape(o);
    for (size_t a = 0; a < shape.size(); ++a) {
      const pad::Axis& axis = outputs[o].axes[a];
      if (axis.padded() != shape[a].padded)
        return node.Reject(fmt::format("axis {} has {} elements, followed to be {}", a,
                                       shape[a].padded, axis.padded()));
      if (!node.padder().Require(pad::Equal(axis.exact(), shape[a].exact)))
        return node.Reject(fmt::format("axis {} has another size than its operands", a));
    }
    if (!node.padder().RequireBounds(outputs[o].axes))
      return node.Reject("it has no element, or more at smaller sizes");
  }
  return {};
}

std::vector<PaddedValue> PadConstant(Padder& padder, const Node& node) {
  const Value& value = padder.bucket().value(node.outputs[0]);
  GraphBuilder& builder = padder.builder();
  const std::string init = node.Has("init") ? node.String("init") : "";
  PaddedValue copy{builder.AddWeight(node.name, node.constant, node.weight_name, init), {}};
  if (!value.layout.IsRowMajor()) builder.SetLayout(copy.value, value.layout);
  for (const int64_t extent : node.constant.shape()) copy.axes.push_back(pad::Axis::Fixed(extent));
  return {std::move(copy)};
}

Result<std::vector<PaddedValue>> PadNode(Padder& padder, size_t number) {
  const Node& copied = padder.bucket().nodes()[number];
  if (copied.op == Op::kConstant) return PadConstant(padder, copied);
  PaddedNode node(padder, number);
  const pad::Rule rule = pad::RuleFor(copied.op);
  if (rule == nullptr) return node.Reject("no rule says how");
  TUNEC_ASSIGN(std::vector<PaddedValue> outputs, rule(node));
  TUNEC_RETURN_IF_ERROR(CheckExtents(node, outputs));
  TUNEC_ASSIGN(const std::vector<ValueId> values, node.Emit());
  for (size_t o = 0; o < outputs.size(); ++o) {
    outputs[o].value = values[o];
    padder.MixWhatMeetsItself(outputs[o].axes);
  }
  return outputs;
}

}  // namespace

Result<PaddedGraph> PadGraph(const Graph& named, const SizeValues& sizes) {
  TUNEC_ASSIGN(const Graph bucket, Specialize(named, sizes));
  TUNEC_RETURN_IF_ERROR(RequireElements(bucket));
  Padder padder(named, bucket, sizes);
  TUNEC_RETURN_IF_ERROR(padder.AddInputs());
  for (size_t i = 0; i < bucket.nodes().size(); ++i) {
    const Node& node = bucket.nodes()[i];
    if (node.op == Op::kInput) continue;
    TUNEC_ASSIGN(std::vector<PaddedValue> outputs, PadNode(padder, i));
    for (size_t o = 0; o < outputs.size(); ++o) {
      const std::string& name = bucket.value(node.outputs[o]).name;
      // Inputs keep their names: a parameter has the name in its SizeParameter.
      const bool is_parameter =
          padder.builder().graph().producer(outputs[o].value).op == Op::kInput;
      if (!is_parameter) padder.builder().RenameValue(outputs[o].value, name);
      padder.at(node.outputs[o]) = std::move(outputs[o]);
    }
  }
  return std::move(padder).Finish();
}

}  // namespace tunec
