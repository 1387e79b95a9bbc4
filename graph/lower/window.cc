#include "graph/lower/window.h"

namespace tunec::lower {
namespace {

// Letters that name the spatial axes. If there are n axes, the last n letters name them.
constexpr std::string_view kLetters = "dhw";

// Greatest number of windows, or of elements of windows, that are examined. With more, MayBeEmpty
// and MayBeEmptyTransposed return true.
constexpr int64_t kMostExamined = int64_t{1} << 26;

int64_t At(const std::vector<int64_t>& list, size_t i, int64_t fallback) {
  return i < list.size() ? list[i] : fallback;
}

}  // namespace

// Window o begins at o * stride - pad. If the last window begins at 0 or later, its first element
// decides for all windows that begin at 0 or later. In each window that begins before 0, the first
// element at 0 or later decides.
bool WindowAxis::MayBeEmpty() const {
  if (output <= 0) return false;
  if (kernel <= 0 || (output - 1) * stride - pad >= input) return true;
  const int64_t before = std::min(output, CeilDivide(std::max<int64_t>(pad, 0), stride));
  if (before > kMostExamined) return true;
  for (int64_t o = 0; o < before; ++o) {
    const int64_t k = CeilDivide(pad - o * stride, dilation);
    if (k >= kernel || o * stride + k * dilation - pad >= input) return true;
  }
  return false;
}

bool WindowAxis::MayBeEmptyTransposed() const {
  if (output > kMostExamined / std::max<int64_t>(kernel, 1)) return true;
  for (int64_t o = 0; o < output; ++o) {
    bool empty = true;
    for (int64_t k = 0; k < kernel && empty; ++k) {
      const int64_t scaled = o + pad - k * dilation;
      empty = scaled < 0 || scaled % stride != 0 || scaled / stride >= input;
    }
    if (empty) return true;
  }
  return false;
}

std::vector<WindowAxis> WindowAxes(const Node& node, const std::vector<int64_t>& input,
                                   const std::vector<int64_t>& output,
                                   const std::vector<int64_t>& kernel) {
  const size_t rank = kernel.size();
  std::vector<WindowAxis> axes(rank);
  for (size_t d = 0; d < rank; ++d) {
    const char letter = kLetters[kLetters.size() - rank + d];
    axes[d] = {.output_name = std::string("o") + letter,
               .input_name = std::string("i") + letter,
               .kernel_name = std::string("k") + letter,
               .input = input[2 + d],
               .output = output[2 + d],
               .kernel = kernel[d],
               .stride = At(node.Ints("strides"), d, 1),
               .dilation = At(node.Ints("dilations"), d, 1),
               .pad = At(node.Ints("pads"), d, 0)};
  }
  return axes;
}

std::vector<std::string> OutputNames(const std::vector<WindowAxis>& axes,
                                     std::vector<std::string> channels) {
  std::vector<std::string> names = {"n"};
  for (std::string& channel : channels) names.push_back(std::move(channel));
  for (const WindowAxis& axis : axes) names.push_back(axis.output_name);
  return names;
}

std::vector<IndexExpr> ConditionsInside(const WindowAxis& axis, const IndexExpr& at) {
  return {at, IndexExpr(axis.input - 1) - at};
}

Expr ReadPadded(StatementBuilder& builder, const Lazy& x, const Index& index,
                const Padding& padding) {
  if (!padding.some_window_empty) {
    for (const IndexExpr& condition : padding.inside) builder.Require(condition);
    return x.At(builder, index);
  }
  Expr value = builder.EvaluateGuarded(padding.inside, padding.outside,
                                       [&] { return x.At(builder, index); });
  std::vector<IndexExpr> failing;
  for (const IndexExpr& condition : padding.inside)
    if (builder.CanFail(condition)) failing.push_back(condition);
  if (failing.empty() || builder.IsReadGuardedBy(value, padding.inside)) return value;
  return Expr::Select(Expr::Holds(failing), value, Expr::Constant(padding.outside, value.type()));
}

}  // namespace tunec::lower
