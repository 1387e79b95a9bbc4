#include "graph/passes/fold_batch_norm.h"

#include <algorithm>
#include <cmath>

#include "graph/derived_constant.h"
#include "graph/passes/eliminate_dead_nodes.h"
#include "ir/rounding.h"

namespace tunec {
namespace {

// The normalisation as x * scale[c] + shift[c].
struct ChannelAffine {
  std::vector<double> scale;
  std::vector<double> shift;
};

std::optional<ChannelAffine> AffineOf(const Graph& graph, const Node& node,
                                      const std::vector<ValueId>& inputs) {
  const Array* parameters[4];  // scale, bias, mean, variance
  for (size_t i = 0; i < 4; ++i) {
    parameters[i] = graph.ConstantOf(inputs[i + 1]);
    if (parameters[i] == nullptr) return {};
  }
  ChannelAffine affine;
  for (int64_t c = 0; c < parameters[0]->size(); ++c) {
    const double deviation = std::sqrt(parameters[3]->GetDouble(c) + node.Float("epsilon"));
    const double scale = parameters[0]->GetDouble(c) / deviation;
    affine.scale.push_back(scale);
    affine.shift.push_back(parameters[1]->GetDouble(c) - parameters[2]->GetDouble(c) * scale);
    // An infinite factor would meet an infinite shift where the normalisation has one alone.
    const DataType type = parameters[0]->type();
    if (!std::isfinite(RoundTo(scale, type)) || !std::isfinite(RoundTo(affine.shift.back(), type)))
      return {};
  }
  return affine;
}

// y[i] = x[i] * factor for i in [begin, end). Weights are nearly all f32, and millions.
void Scale(const Array& x, Array& y, int64_t begin, int64_t end, double factor) {
  if (x.type() != DataType::kF32) {
    for (int64_t i = begin; i < end; ++i) y.SetDouble(i, x.GetDouble(i) * factor);
    return;
  }
  const float* from = x.As<float>().data();
  float* to = y.MutableAs<float>().data();
  for (int64_t i = begin; i < end; ++i) to[i] = static_cast<float>(from[i] * factor);
}

// w[M, C/g, ...] scaled by output channel; of a transposed convolution, w[C, M/g, ...].
Array ScaledWeight(const Node& conv, const Array& weight, const std::vector<double>& scale) {
  Array scaled(weight.type(), weight.shape());
  const bool transposed = conv.op == Op::kConvTranspose;
  const int64_t second = weight.shape()[1];
  const int64_t rows = weight.shape()[0];
  const int64_t inner = rows * second == 0 ? 0 : weight.size() / (rows * second);
  const int64_t rows_per_group = std::max<int64_t>(rows / conv.Int("group"), 1);
  for (int64_t r = 0; r < rows; ++r) {
    if (!transposed) {
      Scale(weight, scaled, r * second * inner, (r + 1) * second * inner, scale[r]);
      continue;
    }
    for (int64_t s = 0; s < second; ++s) {
      const int64_t channel = r / rows_per_group * second + s;
      const int64_t base = (r * second + s) * inner;
      Scale(weight, scaled, base, base + inner, scale[channel]);
    }
  }
  return scaled;
}

Array ScaledBias(const Array* bias, const ChannelAffine& affine, DataType type) {
  const auto channels = static_cast<int64_t>(affine.scale.size());
  Array scaled(type, {channels});
  for (int64_t c = 0; c < channels; ++c) {
    const double before = bias == nullptr ? 0 : bias->GetDouble(c);
    scaled.SetDouble(c, before * affine.scale[c] + affine.shift[c]);
  }
  return scaled;
}

// The convolution that makes the normalisation's input, if it may change: its parameters are
// constants and nobody else reads it.
const Node* FoldableConv(const Graph& old_graph, const Node& batch_norm,
                         const std::vector<std::vector<NodeId>>& users, const Graph& graph,
                         ValueId input) {
  const ValueId old_input = batch_norm.inputs[0];
  if (users[old_input.index].size() != 1 || old_graph.IsOutput(old_input)) return nullptr;
  const Node& conv = graph.producer(input);
  if (conv.op != Op::kConv && conv.op != Op::kConvTranspose) return nullptr;
  for (size_t i = 1; i < conv.inputs.size(); ++i)
    if (conv.inputs[i].valid() && graph.ConstantOf(conv.inputs[i]) == nullptr) return nullptr;
  return &conv;
}

Result<std::vector<ValueId>> FoldInto(const Node& conv, const ChannelAffine& affine,
                                      const std::string& name, GraphBuilder& builder) {
  const bool has_bias = conv.inputs.size() > 2 && conv.inputs[2].valid();
  const Array& weight = *builder.graph().ConstantOf(conv.inputs[1]);
  const Array* bias = has_bias ? builder.graph().ConstantOf(conv.inputs[2]) : nullptr;
  Array new_weight = ScaledWeight(conv, weight, affine.scale);
  Array new_bias = ScaledBias(bias, affine, weight.type());
  const ValueId x = conv.inputs[0];
  const Op op = conv.op;
  const Attributes attributes = conv.attributes;
  const SourceLocation where = conv.where;
  // `conv` is in the graph that grows from here on.
  const ValueId w = AddDerivedConstant(builder, name + "_weight", std::move(new_weight));
  const ValueId b = AddDerivedConstant(builder, name + "_bias", std::move(new_bias));
  TUNEC_ASSIGN(const ValueId folded, builder.Add(op, {x, w, b}, attributes, name, where));
  return std::vector<ValueId>{folded};
}

Result<std::vector<ValueId>> AsScaleAndShift(const Node& node, ValueId x,
                                             const ChannelAffine& affine, GraphBuilder& builder) {
  const ValueType type = builder.TypeOf(x);
  std::vector<int64_t> shape(type.dims.size() - 1, 1);
  shape[0] = static_cast<int64_t>(affine.scale.size());
  Array scale(type.type, shape);
  Array shift(type.type, shape);
  for (int64_t c = 0; c < shape[0]; ++c) {
    scale.SetDouble(c, affine.scale[c]);
    shift.SetDouble(c, affine.shift[c]);
  }
  const ValueId s = AddDerivedConstant(builder, node.name + "_scale", std::move(scale));
  const ValueId t = AddDerivedConstant(builder, node.name + "_shift", std::move(shift));
  TUNEC_ASSIGN(const ValueId scaled, builder.Add(Op::kMul, {x, s}, {}, "", node.where));
  TUNEC_ASSIGN(const ValueId result, builder.Add(Op::kAdd, {scaled, t}, {}, node.name, node.where));
  return std::vector<ValueId>{result};
}

}  // namespace

Result<Graph> FoldBatchNorm(const Graph& graph, const PassOptions& options) {
  const auto is_batch_norm = [](const Node& node) { return node.op == Op::kBatchNorm; };
  if (std::ranges::none_of(graph.nodes(), is_batch_norm)) return EliminateDeadNodes(graph, options);
  const auto users = graph.Users();
  const auto fold = [&](const Node& node, const std::vector<ValueId>& inputs,
                        GraphBuilder& builder) -> Result<std::vector<ValueId>> {
    if (!is_batch_norm(node)) return std::vector<ValueId>{};
    const auto affine = AffineOf(builder.graph(), node, inputs);
    if (!affine) return std::vector<ValueId>{};
    const Node* conv = FoldableConv(graph, node, users, builder.graph(), inputs[0]);
    if (conv != nullptr) return FoldInto(*conv, *affine, node.name, builder);
    return AsScaleAndShift(node, inputs[0], *affine, builder);
  };
  TUNEC_ASSIGN(const Graph folded, Rebuild(graph, fold));
  return EliminateDeadNodes(folded, options);
}

}  // namespace tunec
