#include "graph/passes/fold_batch_norm.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "graph/derived_constant.h"
#include "graph/passes/eliminate_dead_nodes.h"
#include "graph/passes/split_batch_norm.h"
#include "graph/reference/run.h"
#include "graph/rules/joined_constant.h"
#include "ir/rounding.h"

namespace tunec {
namespace {

// The largest distance of a mean from 0, in standard deviations, for the form x * scale + shift. If
// a mean is farther from 0, all means are subtracted first. Otherwise the result could be the small
// difference of large numbers.
constexpr double kMostDeviations = 8;

// The constants of a batch normalisation in two equal forms. For the channel c, the forms are
// x * scale[c] + shift[c] and (x - mean[c]) * scale[c] + bias[c].
struct ChannelAffine {
  std::vector<double> scale;
  std::vector<double> shift;
  std::vector<double> mean;
  std::vector<double> bias;
  /// A description of the first channel whose mean is more than kMostDeviations standard deviations
  /// from 0. Empty if there is no such channel.
  std::string far_mean;
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
    const double bias = parameters[1]->GetDouble(c);
    const double mean = parameters[2]->GetDouble(c);
    const double variance = parameters[3]->GetDouble(c);
    const double scale = parameters[0]->GetDouble(c) / std::sqrt(variance + node.Float("epsilon"));
    affine.scale.push_back(scale);
    affine.shift.push_back(bias - mean * scale);
    affine.mean.push_back(mean);
    affine.bias.push_back(bias);
    if (affine.far_mean.empty() && !(std::abs(mean) <= kMostDeviations * std::sqrt(variance)))
      affine.far_mean =
          fmt::format("channel {} has the mean {:g} and the variance {:g}", c, mean, variance);
    // Rejects a scale or shift that is not finite in the type of the data: the two could combine to
    // a NaN where the normalisation gives an infinity.
    const DataType type = graph.value(inputs[0]).type.type;
    if (!std::isfinite(RoundTo(scale, type)) || !std::isfinite(RoundTo(affine.shift.back(), type)))
      return {};
  }
  return affine;
}

// Computes y[i] = x[i] * factor for i in [begin, end). A separate loop makes this fast for f32, the
// usual type of large weights.
void Scale(const Array& x, Array& y, int64_t begin, int64_t end, double factor) {
  if (x.type() != DataType::kF32) {
    for (int64_t i = begin; i < end; ++i) y.SetDouble(i, x.GetDouble(i) * factor);
    return;
  }
  const float* from = x.As<float>().data();
  float* to = y.MutableAs<float>().data();
  for (int64_t i = begin; i < end; ++i) to[i] = static_cast<float>(from[i] * factor);
}

// Returns the weight with each element multiplied by the scale of its output channel. The weight
// has the shape [M, C/g, ...], or [C, M/g, ...] for a transposed convolution.
Array ScaledWeight(const Node& conv, const Array& weight, const std::vector<double>& scale) {
  Array scaled(weight.type(), weight.shape());
  const bool transposed = conv.op == Op::kConvTranspose;
  const int64_t second = weight.shape()[1];
  const int64_t rows = weight.shape()[0];
  const int64_t inner = rows * second == 0 ? 0 : weight.size() / (rows * second);
  const int64_t rows_per_group = std::max<int64_t>(rows / conv.Int("group"), 1);
  reference::ParallelFor(rows, second * inner, [&](int64_t first, int64_t end) {
    for (int64_t r = first; r < end; ++r) {
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
  });
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

// Returns the convolution that computes the normalisation's input. Returns null if another operator
// computes the input, if a parameter of the convolution is not a constant, or if the input has
// another reader or is a graph output.
const Node* FoldableConv(const Graph& old_graph, const Node& batch_norm, const ValueUsers& users,
                         const Graph& graph, ValueId input) {
  const ValueId old_input = batch_norm.inputs[0];
  if (users[old_input].size() != 1 || old_graph.IsOutput(old_input)) return nullptr;
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
  // From here on `conv` may dangle: it points into the graph that grows.
  const ValueId w = AddDerivedConstant(builder, name + "_weight", std::move(new_weight));
  const ValueId b = AddDerivedConstant(builder, name + "_bias", std::move(new_bias));
  TUNEC_ASSIGN(const ValueId folded, builder.Add(op, {x, w, b}, attributes, name, where));
  return std::vector<ValueId>{folded};
}

// Returns whether any parameter has a wider type than the data, which is the first input. A
// constant of the data's type would lose digits of the parameter.
bool HasWiderParameters(const Graph& graph, const std::vector<ValueId>& inputs) {
  const auto size = [&](ValueId value) { return SizeOf(graph.value(value).type.type); };
  return std::ranges::any_of(inputs, [&](ValueId value) { return size(value) > size(inputs[0]); });
}

// Adds a node that applies `op` to `x` and to a constant of one number per channel. The channels
// are axis 1 of `x`.
Result<ValueId> AddPerChannel(Op op, ValueId x, const std::vector<double>& numbers,
                              const std::string& name, const Node& node, GraphBuilder& builder) {
  const ValueType type = builder.TypeOf(x);
  std::vector<int64_t> shape(type.dims.size() - 1, 1);
  shape[0] = static_cast<int64_t>(numbers.size());
  Array constant(type.type, shape);
  for (int64_t c = 0; c < shape[0]; ++c) constant.SetDouble(c, numbers[c]);
  const ValueId operand = AddDerivedConstant(builder, node.name + "_" + name, std::move(constant));
  return builder.Add(op, {x, operand}, {}, op == Op::kAdd ? node.name : "", node.where);
}

Result<std::vector<ValueId>> AsScaleAndShift(const Node& node, ValueId x,
                                             const ChannelAffine& affine, GraphBuilder& builder) {
  const bool is_far = !affine.far_mean.empty();
  if (is_far) {
    TUNEC_ASSIGN(x, AddPerChannel(Op::kSub, x, affine.mean, "mean", node, builder));
  }
  TUNEC_ASSIGN(const ValueId scaled,
               AddPerChannel(Op::kMul, x, affine.scale, "scale", node, builder));
  TUNEC_ASSIGN(const ValueId result,
               AddPerChannel(Op::kAdd, scaled, is_far ? affine.bias : affine.shift,
                             is_far ? "bias" : "shift", node, builder));
  return std::vector<ValueId>{result};
}

// Returns shift @ weight, or shift @ transposed weight if the product has transpose_b. This bias of
// the product replaces the shift of its operand.
Array ShiftOfProduct(const Node& product, const Array& weight, const std::vector<double>& shift) {
  const bool transposed = product.Int("transpose_b") != 0;
  const auto inner = static_cast<int64_t>(shift.size());
  const int64_t columns = weight.shape()[transposed ? 0 : 1];
  Array bias(weight.type(), {columns});
  for (int64_t j = 0; j < columns; ++j) {
    double sum = 0;
    for (int64_t k = 0; k < inner; ++k)
      sum += shift[k] * weight.GetDouble(transposed ? j * inner + k : k * columns + j);
    bias.SetDouble(j, sum);
  }
  return bias;
}

// Splits a normalisation whose scale or variance is not a constant. Returns an empty vector, which
// leaves the node, if both are constants or SplitBatchNorm does not support the node.
Result<std::vector<ValueId>> Split(const Node& node, const std::vector<ValueId>& inputs,
                                   GraphBuilder& builder) {
  const auto is_constant = [&](size_t i) {
    return builder.graph().ConstantOf(inputs[i]) != nullptr;
  };
  if (is_constant(1) && is_constant(4)) return std::vector<ValueId>{};
  TUNEC_ASSIGN(const std::optional<ValueId> value, SplitBatchNorm(node, inputs, builder));
  return value ? std::vector<ValueId>{*value} : std::vector<ValueId>{};
}

bool IsBatchNorm(const Node& node) { return node.op == Op::kBatchNorm; }

class BatchNormFolder {
 public:
  BatchNormFolder(const Graph& graph, const PassOptions& options)
      : graph_(graph), options_(options), users_(graph.Users()) {}

  Result<std::vector<ValueId>> Replace(const Node& node, const std::vector<ValueId>& inputs,
                                       GraphBuilder& builder) {
    if (IsLinear(node, inputs, builder)) return ReplaceLinear(node, inputs, builder);
    if (!IsBatchNorm(node)) return std::vector<ValueId>{};
    auto affine = AffineOf(builder.graph(), node, inputs);
    if (!affine) return Split(node, inputs, builder);
    const Node* conv = FoldableConv(graph_, node, users_, builder.graph(), inputs[0]);
    if (conv != nullptr) return FoldInto(*conv, *affine, node.name, builder);
    if (HasWiderParameters(builder.graph(), inputs)) return std::vector<ValueId>{};
    auto result = AsScaleAndShift(node, inputs[0], *affine, builder);
    written_out_.emplace(node.outputs[0], *std::move(affine));
    return result;
  }

 private:
  // Returns whether the node multiplies a matrix of features, not transposed, by a constant weight
  // matrix. The features must be the result of a normalisation in `written_out_`. They must have no
  // other reader and not be a graph output.
  bool IsLinear(const Node& node, const std::vector<ValueId>& inputs,
                const GraphBuilder& builder) const {
    if (node.op != Op::kMatmul || node.Int("transpose_a") != 0) return false;
    const ValueId features = node.inputs[0];
    if (!written_out_.contains(features) || users_[features].size() != 1 ||
        graph_.IsOutput(features) || graph_.value(features).type.dims.size() != 2)
      return false;
    const Array* weight = builder.graph().ConstantOf(inputs[1]);
    return weight != nullptr && weight->shape().size() == 2;
  }

  // Replaces (x * scale + shift) @ w by (x * scale) @ w + shift @ w. Returns an empty vector, which
  // leaves the node, if a mean is far from 0 or shift @ w is not finite. Reports only the far mean.
  Result<std::vector<ValueId>> ReplaceLinear(const Node& product,
                                             const std::vector<ValueId>& inputs,
                                             GraphBuilder& builder) {
    const ChannelAffine& affine = written_out_.at(product.inputs[0]);
    if (!affine.far_mean.empty()) {
      if (options_.on_unchanged)
        options_.on_unchanged(product,
                              fmt::format("its batch normalisation is not folded: {}, more "
                                          "than {} standard deviations from 0",
                                          affine.far_mean, kMostDeviations));
      return std::vector<ValueId>{};
    }
    const Array bias =
        ShiftOfProduct(product, *builder.graph().ConstantOf(inputs[1]), affine.shift);
    // An infinity in the bias could be added to an infinity of the opposite sign, which gives NaN.
    if (!IsFinite(bias)) return std::vector<ValueId>{};
    const ValueId scaled = builder.graph().producer(inputs[0]).inputs[0];
    TUNEC_ASSIGN(const ValueId unshifted, builder.Add(Op::kMatmul, {scaled, inputs[1]},
                                                      product.attributes, "", product.where));
    const ValueId b = AddDerivedConstant(builder, product.name + "_shift", bias);
    TUNEC_ASSIGN(const ValueId result,
                 builder.Add(Op::kAdd, {unshifted, b}, {}, product.name, product.where));
    return std::vector<ValueId>{result};
  }

  const Graph& graph_;
  const PassOptions& options_;
  ValueUsers users_;
  // The constants of normalisations that AsScaleAndShift replaced. A key is the result in the old
  // graph.
  std::map<ValueId, ChannelAffine> written_out_;
};

}  // namespace

Result<Graph> FoldBatchNorm(const Graph& graph, const PassOptions& options) {
  if (std::ranges::none_of(graph.nodes(), IsBatchNorm)) return EliminateDeadNodes(graph, options);
  BatchNormFolder folder(graph, options);
  TUNEC_ASSIGN(
      const Graph folded,
      Rebuild(graph, [&](const Node& node, const std::vector<ValueId>& inputs,
                         GraphBuilder& builder) { return folder.Replace(node, inputs, builder); }));
  return EliminateDeadNodes(folded, options);
}

}  // namespace tunec
