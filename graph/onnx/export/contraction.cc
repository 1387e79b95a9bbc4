// Export of products, convolutions and pools as ONNX nodes.
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>

#include "graph/onnx/export/forms.h"
#include "graph/onnx/node_context.h"
#include "graph/ops/op_table.h"

namespace tunec::onnx_export {
namespace {

using Written = Result<std::string>;

std::string Transposed(FormContext& node, const std::string& x, size_t rank) {
  std::vector<int64_t> perm = onnx_import::AllAxes(static_cast<int64_t>(rank));
  std::swap(perm[rank - 2], perm[rank - 1]);
  return node.Emit("Transpose", {x}, {{"perm", perm}});
}

/// Returns the type in which a product is computed. ONNX multiplies integers of 32 and 64 bits.
/// Narrower integers are widened; truncation afterwards gives the same result.
DataType ProductType(DataType type) {
  return IsInteger(type) && SizeOf(type) < 4 ? DataType::kI32 : type;
}

Written WriteMatmul(FormContext& node) {
  const DataType type = node.type(), wide = ProductType(type);
  std::array<std::string, 2> operands;
  for (size_t i = 0; i < 2; ++i) {
    const bool transposed = node.node().Int(i == 0 ? "transpose_a" : "transpose_b") != 0;
    const size_t rank = node.InputType(i).dims.size();
    operands[i] = node.Cast(node.input(i), type, wide);
    if (transposed && rank > 1) operands[i] = Transposed(node, operands[i], rank);
  }
  return node.Cast(node.Emit("MatMul", {operands[0], operands[1]}), wide, type);
}

std::vector<int64_t> SpatialOf(const std::vector<int64_t>& shape) {
  return {shape.begin() + 2, shape.end()};
}

Written WriteConv(FormContext& node) {
  if (!IsFloat(node.type()))
    return Fail(ErrorCode::kUnsupported, "ONNX has no convolution of {}", Name(node.type()));
  TUNEC_ASSIGN(const std::vector<int64_t> filter, node.InputShape(1));
  OnnxAttributes attributes{{"kernel_shape", SpatialOf(filter)},
                            {"group", node.node().Int("group")}};
  for (const char* name : {"strides", "pads", "dilations"})
    attributes.emplace(name, node.node().Ints(name));
  if (node.node().op == Op::kConvTranspose)
    attributes.emplace("output_padding", node.node().Ints("output_padding"));
  return node.Emit(node.form().onnx_name, node.inputs(), std::move(attributes));
}

OnnxAttributes PoolAttributes(const Node& node, std::vector<int64_t> pads) {
  return {{"kernel_shape", node.Ints("kernel")},
          {"strides", node.Ints("strides")},
          {"dilations", node.Ints("dilations")},
          {"pads", std::move(pads)}};
}

/// Returns whether every pad is smaller than the kernel. Runtimes require this, but pads of an
/// imported ceil_mode may be larger.
bool PadsAreSmall(const Node& node) {
  const auto& kernel = node.Ints("kernel");
  const auto& pads = node.Ints("pads");
  for (size_t i = 0; i < pads.size(); ++i)
    if (pads[i] >= kernel[i % kernel.size()]) return false;
  return true;
}

/// Returns x with the node's pads added as elements with the value `value`.
std::string Padded(FormContext& node, const std::string& x, double value, DataType type) {
  const auto& pads = node.node().Ints("pads");
  std::vector<int64_t> all(pads.size() + 4, 0);
  const auto half = static_cast<std::ptrdiff_t>(pads.size() / 2);
  std::copy(pads.begin(), pads.begin() + half, all.begin() + 2);
  std::copy(pads.begin() + half, pads.end(), all.begin() + 4 + half);
  return node.Emit("Pad", {x, node.Ints(all), node.Scalar(value, type)});
}

/// Returns the type in which a maximum is computed. Floats and 8-bit types are not converted.
/// Integers of 16 and 32 bits are exact in float64. Wider integers are rejected.
Result<DataType> MaxPoolType(DataType type) {
  if (IsFloat(type) || SizeOf(type) == 1) return type;
  if (SizeOf(type) <= 4) return DataType::kF64;
  return Fail(ErrorCode::kUnsupported, "ONNX has no max_pool of {}", Name(type));
}

Written WriteMaxPool(FormContext& node) {
  const DataType type = node.type();
  TUNEC_ASSIGN(const DataType as, MaxPoolType(type));
  std::string x = node.Cast(node.input(0), type, as);
  std::vector<int64_t> pads = node.node().Ints("pads");
  if (!PadsAreSmall(node.node())) {
    if (!IsFloat(as))
      return Fail(ErrorCode::kUnsupported, "ONNX has no max_pool of {} with pads as large as these",
                  Name(type));
    x = Padded(node, x, -std::numeric_limits<double>::infinity(), as);
    pads.assign(pads.size(), 0);
  }
  x = node.Emit("MaxPool", {x}, PoolAttributes(node.node(), std::move(pads)));
  return node.Cast(x, as, type);
}

Written WriteAveragePool(FormContext& node) {
  const bool counts_pads = node.node().Int("count_include_pad") != 0;
  if (PadsAreSmall(node.node())) {
    OnnxAttributes attributes = PoolAttributes(node.node(), node.node().Ints("pads"));
    attributes.emplace("count_include_pad", int64_t{counts_pads});
    return node.Emit("AveragePool", {node.input(0)}, std::move(attributes));
  }
  const OnnxAttributes attributes =
      PoolAttributes(node.node(), std::vector<int64_t>(node.node().Ints("pads").size(), 0));
  const std::string x = Padded(node, node.input(0), 0, node.type());
  std::string average = node.Emit("AveragePool", {x}, attributes);
  if (counts_pads) return average;
  // Divides the average with padding zeros by the fraction of the window that is inside the input.
  TUNEC_ASSIGN(std::vector<int64_t> shape, node.InputShape(0));
  shape[0] = shape[1] = 1;
  const std::string ones = node.Emit("Expand", {node.Scalar(1, node.type()), node.Ints(shape)});
  const std::string share =
      node.Emit("AveragePool", {Padded(node, ones, 0, node.type())}, attributes);
  return node.Emit("Div", {average, share});
}

constexpr auto kForms = std::to_array<ExportForm>({
    {Op::kMatmul, WriteMatmul},
    {Op::kConv, WriteConv, "Conv"},
    {Op::kConvTranspose, WriteConv, "ConvTranspose"},
    {Op::kMaxPool, WriteMaxPool},
    {Op::kAveragePool, WriteAveragePool},
});

}  // namespace

std::span<const ExportForm> ContractionForms() { return kForms; }

}  // namespace tunec::onnx_export
