// Export of attention as the ONNX nodes of its definition. The ONNX operator needs opset 23, which
// not all runtimes support.
#include <array>
#include <limits>

#include "graph/onnx/export/forms.h"
#include "graph/onnx/node_context.h"

namespace tunec::onnx_export {
namespace {

using Written = Result<std::string>;
constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// Returns operand i with each head repeated for its group of query heads.
Written Repeated(FormContext& node, size_t i) {
  TUNEC_ASSIGN(const std::vector<int64_t> shape, node.InputShape(i));
  TUNEC_ASSIGN(const std::vector<int64_t> q, node.InputShape(0));
  const size_t rank = shape.size();
  if (rank < 3 || shape[rank - 3] == q[rank - 3]) return node.input(i);
  std::vector<int64_t> apart = shape;
  apart.insert(apart.end() - 2, 1);
  std::vector<int64_t> repeated = apart;
  repeated[rank - 2] = q[rank - 3] / shape[rank - 3];
  std::vector<int64_t> merged = shape;
  merged[rank - 3] = q[rank - 3];
  const auto reshape = [&](const std::string& x, const std::vector<int64_t>& to) {
    return node.Emit("Reshape", {x, node.Ints(to)}, {{"allowzero", int64_t{1}}});
  };
  const std::string expanded =
      node.Emit("Expand", {reshape(node.input(i), apart), node.Ints(repeated)});
  return reshape(expanded, merged);
}

/// Returns a mask [queries, keys] that is true where the attributes causal and window hide nothing.
std::string CausalMask(FormContext& node, int64_t queries, int64_t keys) {
  Array mask(DataType::kBool, {queries, keys});
  const int64_t offset = node.node().Int("causal_offset");
  const int64_t window = node.node().Int("window");
  for (int64_t i = 0; i < queries; ++i)
    for (int64_t j = 0; j < keys; ++j) {
      const bool in_window = window == 0 || j > i + offset - window;
      mask.SetInt(i * keys + j, j <= i + offset && in_window ? 1 : 0);
    }
  return node.Constant(std::move(mask));
}

Written Scores(FormContext& node) {
  TUNEC_ASSIGN(const std::vector<int64_t> q, node.InputShape(0));
  TUNEC_ASSIGN(const std::vector<int64_t> k, node.InputShape(1));
  const auto rank = static_cast<int64_t>(q.size());
  std::vector<int64_t> perm = onnx_import::AllAxes(rank);
  std::swap(perm[q.size() - 2], perm[q.size() - 1]);
  TUNEC_ASSIGN(const std::string keys, Repeated(node, 1));
  const auto scalar = [&](double value) { return node.Scalar(value, node.type()); };
  std::string x =
      node.Emit("MatMul", {node.input(0), node.Emit("Transpose", {keys}, {{"perm", perm}})});
  x = node.Emit("Mul", {x, scalar(node.node().Float("scale"))});
  if (const double cap = node.node().Float("softcap"); cap > 0) {
    x = node.Emit("Tanh", {node.Emit("Div", {x, scalar(cap)})});
    x = node.Emit("Mul", {x, scalar(cap)});
  }
  if (node.HasInput(3)) {
    x = node.InputType(3).type == DataType::kBool
            ? node.Emit("Where", {node.input(3), x, scalar(node.node().Float("hidden"))})
            : node.Emit("Add", {x, node.input(3)});
  }
  if (node.node().Int("causal") == 0) return x;
  const std::string visible = CausalMask(node, q[q.size() - 2], k[k.size() - 2]);
  return node.Emit("Where", {visible, x, scalar(node.node().Float("hidden"))});
}

Written WriteAttention(FormContext& node) {
  TUNEC_ASSIGN(const std::string x, Scores(node));
  TUNEC_ASSIGN(const std::string values, Repeated(node, 2));
  const std::string weights = node.Emit("Softmax", {x}, {{"axis", int64_t{-1}}});
  std::string y = node.Emit("MatMul", {weights, values});
  if (node.node().String("empty_rows") == "nan") return y;
  const auto last = static_cast<int64_t>(node.OutputType().dims.size()) - 1;
  const std::string most =
      node.Emit("ReduceMax", {x, node.Ints({last})}, {{"keepdims", int64_t{1}}});
  const std::string empty = node.Emit("Equal", {most, node.Scalar(-kInfinity, node.type())});
  return node.Emit("Where", {empty, node.Scalar(0, node.type()), y});
}

constexpr auto kForms = std::to_array<ExportForm>({
    {Op::kAttention, WriteAttention},
});

}  // namespace

std::span<const ExportForm> AttentionForms() { return kForms; }

}  // namespace tunec::onnx_export
