#include "graph/pad/pad_graph.h"

#include "graph/open_dimensions.h"
#include "graph/pad/padder.h"

namespace tunec {
namespace {

using pad::PaddedNode;
using pad::PaddedValue;
using pad::Padder;

std::unexpected<Error> Differ(const Graph& exact, const Graph& bucket, std::string_view where) {
  return Fail(
      ErrorCode::kUnsupported,
      "{} is another graph at the smaller sizes ({} nodes) than at the larger ({}), from {}",
      bucket.name(), exact.nodes().size(), bucket.nodes().size(), where);
}

// Checks that the graphs have equal operators, value numbers, data types and ranks. Rejects nodes
// with bodies. Does not compare extents and attributes.
Status CheckSameNodes(const Graph& exact, const Graph& bucket) {
  if (exact.inputs() != bucket.inputs() || exact.outputs() != bucket.outputs())
    return Differ(exact, bucket, "its inputs and outputs on");
  for (size_t i = 0; i < bucket.nodes().size(); ++i) {
    if (i >= exact.nodes().size()) return Differ(exact, bucket, "its end on");
    const Node& a = exact.nodes()[i];
    const Node& b = bucket.nodes()[i];
    bool same = a.op == b.op && a.inputs == b.inputs && a.outputs == b.outputs && b.bodies.empty();
    for (size_t o = 0; same && o < b.outputs.size(); ++o) {
      const ValueType& small = exact.value(a.outputs[o]).type;
      const ValueType& large = bucket.value(b.outputs[o]).type;
      same = small.type == large.type && small.dims.size() == large.dims.size();
    }
    if (!same) return Differ(exact, bucket, b.name);
  }
  if (exact.nodes().size() != bucket.nodes().size()) return Differ(exact, bucket, "its end on");
  return {};
}

Status RequireElements(const Graph& graph) {
  TUNEC_RETURN_IF_ERROR(RequireFixedSizes(graph));
  for (const Value& value : graph.values()) {
    if (value.type.Elements() == 0)
      return Fail(ErrorCode::kUnsupported, "value {} has no elements", value.name);
  }
  return {};
}

// Checks the axes that the node's rule returned. The extents must equal those of the exact graph
// and of the bucket's graph. No exact extent may be larger than the padded extent.
Status CheckExtents(const PaddedNode& node, const std::vector<PaddedValue>& outputs) {
  for (size_t o = 0; o < outputs.size(); ++o) {
    const std::vector<pad::Extents> shape = node.OutputShape(o);
    for (size_t a = 0; a < shape.size(); ++a) {
      const pad::Extents found = outputs[o].axes[a].extents();
      if (found.exact != shape[a].exact || found.padded != shape[a].padded ||
          found.exact > found.padded)
        return node.Reject(fmt::format("axis {} has {} of {} elements, followed to be {} of {}", a,
                                       shape[a].exact, shape[a].padded, found.exact, found.padded));
    }
  }
  return {};
}

Result<std::vector<PaddedValue>> PadNode(Padder& padder, size_t number) {
  const Op op = padder.bucket().nodes()[number].op;
  if (op == Op::kConstant) return pad::PadConstant(padder, number);
  PaddedNode node(padder, number);
  const pad::Rule rule = pad::RuleFor(op);
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

Result<PaddedGraph> PadGraph(const Graph& exact, const Graph& bucket,
                             std::span<const OpenAxis> open, std::span<const Graph> samples) {
  Padder padder(exact, bucket, samples);
  for (const Graph* graph : padder.graphs()) {
    TUNEC_RETURN_IF_ERROR(CheckSameNodes(*graph, bucket));
    TUNEC_RETURN_IF_ERROR(RequireElements(*graph));
  }
  TUNEC_RETURN_IF_ERROR(padder.AddInputs(open));
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
