// Export of normalisations and softmax as ONNX nodes.
#include <array>

#include "graph/onnx/export/forms.h"
#include "graph/onnx/node_context.h"

namespace tunec::onnx_export {
namespace {

using onnx_import::Product;
using Written = Result<std::string>;

OnnxAttributes Epsilon(const Node& node) { return {{"epsilon", node.Float("epsilon")}}; }

std::string Ones(FormContext& node, const std::vector<int64_t>& shape, double value) {
  Array array(node.type(), shape);
  for (int64_t i = 0; i < array.size(); ++i) array.SetDouble(i, value);
  return node.Constant(std::move(array));
}

Written WriteWithEpsilon(FormContext& node) {
  return node.Emit(node.form().onnx_name, node.inputs(), Epsilon(node.node()));
}

/// Writes a layer normalisation. If a scale or bias has another shape than the normalised axes,
/// separate nodes apply both.
Written WriteLayerNorm(FormContext& node) {
  TUNEC_ASSIGN(const std::vector<int64_t> shape, node.InputShape(0));
  const int64_t axis = node.node().Int("axis");
  const std::vector<int64_t> normalised(shape.begin() + axis, shape.end());
  bool plain = true;
  for (size_t i = 1; i < node.inputs().size(); ++i) {
    TUNEC_ASSIGN(const std::vector<int64_t> factor, node.InputShape(i));
    plain = plain && factor == normalised;
  }
  OnnxAttributes attributes = Epsilon(node.node());
  attributes.emplace("axis", axis);
  if (plain) return node.Emit("LayerNormalization", node.inputs(), std::move(attributes));
  std::string y = node.Emit("LayerNormalization", {node.input(0), Ones(node, normalised, 1)},
                            std::move(attributes));
  y = node.Emit("Mul", {y, node.input(1)});
  return node.HasInput(2) ? node.Emit("Add", {y, node.input(2)}) : y;
}

/// Writes x / sqrt(mean(x * x) + epsilon) * scale. ONNX has this operator only from opset 23.
Written WriteRmsNorm(FormContext& node) {
  std::vector<int64_t> axes;
  for (int64_t a = node.node().Int("axis"); a < static_cast<int64_t>(node.InputType(0).dims.size());
       ++a)
    axes.push_back(a);
  const std::string& x = node.input(0);
  const std::string mean = node.Emit("ReduceMean", {node.Emit("Mul", {x, x}), node.Ints(axes)});
  const std::string epsilon = node.Scalar(node.node().Float("epsilon"), node.type());
  const std::string root = node.Emit("Sqrt", {node.Emit("Add", {mean, epsilon})});
  return node.Emit("Mul", {node.Emit("Div", {x, root}), node.input(1)});
}

/// Writes a group normalisation as an instance normalisation with each group as one channel. Before
/// opset 21 ONNX's GroupNormalization has one scale per group.
Written WriteGroupNorm(FormContext& node) {
  TUNEC_ASSIGN(const std::vector<int64_t> shape, node.InputShape(0));
  const int64_t groups = node.node().Int("groups");
  const std::vector<int64_t> grouped{shape[0], groups,
                                     shape[1] / groups * Product(shape, 2, shape.size())};
  std::vector<int64_t> column(shape.size() - 1, 1);
  column[0] = shape[1];
  const auto reshape = [&](const std::string& x, const std::vector<int64_t>& to) {
    return node.Emit("Reshape", {x, node.Ints(to)}, {{"allowzero", int64_t{1}}});
  };
  std::string y =
      node.Emit("InstanceNormalization",
                {reshape(node.input(0), grouped), Ones(node, {groups}, 1), Ones(node, {groups}, 0)},
                Epsilon(node.node()));
  y = reshape(y, shape);
  y = node.Emit("Mul", {y, reshape(node.input(1), column)});
  return node.Emit("Add", {y, reshape(node.input(2), column)});
}

/// Writes LRN. Runtimes require rank 4 and an odd number of channels in a sum. Any other LRN is
/// written as x / (bias + alpha * mean of neighbours' squares)^beta. The mean is a pool along the
/// channels.
Written WriteLrn(FormContext& node) {
  TUNEC_ASSIGN(const std::vector<int64_t> shape, node.InputShape(0));
  const int64_t size = node.node().Int("size");
  if (shape.size() == 4 && size % 2 == 1) return WriteWithAttributes(node);
  const auto reshape = [&](const std::string& x, const std::vector<int64_t>& to) {
    return node.Emit("Reshape", {x, node.Ints(to)}, {{"allowzero", int64_t{1}}});
  };
  const auto scalar = [&](const char* name) {
    return node.Scalar(node.node().Float(name), node.type());
  };
  const std::string& x = node.input(0);
  const std::string squares =
      reshape(node.Emit("Mul", {x, x}), {shape[0], 1, shape[1], Product(shape, 2, shape.size())});
  const std::string mean =
      node.Emit("AveragePool", {squares},
                {{"kernel_shape", std::vector<int64_t>{size, 1}},
                 {"pads", std::vector<int64_t>{(size - 1) / 2, 0, size / 2, 0}},
                 {"count_include_pad", int64_t{1}}});
  const std::string scaled = node.Emit("Mul", {mean, scalar("alpha")});
  const std::string base = node.Emit("Add", {scaled, scalar("bias")});
  const std::string divisor = reshape(node.Emit("Pow", {base, scalar("beta")}), shape);
  return node.Emit("Div", {x, divisor});
}

constexpr auto kForms = std::to_array<ExportForm>({
    {Op::kBatchNorm, WriteWithEpsilon, "BatchNormalization"},
    {Op::kLayerNorm, WriteLayerNorm},
    {Op::kInstanceNorm, WriteWithEpsilon, "InstanceNormalization"},
    {Op::kGroupNorm, WriteGroupNorm},
    {Op::kRmsNorm, WriteRmsNorm},
    {Op::kLrn, WriteLrn, "LRN"},
    {Op::kSoftmax, WriteWithAttributes, "Softmax"},
    {Op::kLogSoftmax, WriteWithAttributes, "LogSoftmax"},
});

}  // namespace

std::span<const ExportForm> NormForms() { return kForms; }

}  // namespace tunec::onnx_export
