// Import of Einsum. Each operand's axes have labels. The axes of an ellipsis get digits as labels,
// counted from the right, so that ellipses of different length broadcast. Two operands are
// contracted by one batched matrix product:
//
//   [shared and retained] x [left only] x [shared and summed]  *  [..] x [summed] x [right only]
//
// Both operands are transposed and reshaped before the product, and the product is reshaped. Labels
// that occur in only one operand and not in the result are summed first.
#include "graph/onnx/handlers/einsum.h"

#include <algorithm>
#include <cctype>
#include <functional>
#include <optional>
#include <string>

#include "ir/size/size_text.h"

namespace tunec::onnx_import {
namespace {

struct LabelledOperand {
  Operand value;
  std::string labels;  // one character per axis

  /// Returns the extent of a label's axis. Requires: `labels` contains the label.
  const Dim& SizeOf(char label) const { return value->shape.list().at(labels.find(label)); }
  bool Has(char label) const { return labels.contains(label); }
};

std::string Where(const std::string& labels, auto&& is_selected) {
  std::string result;
  for (const char label : labels) {
    if (is_selected(label)) result += label;
  }
  return result;
}

/// Returns the labels of one term: letters, and digits for the `ellipsis` axes of "...".
Result<std::string> Expand(std::string term, int64_t ellipsis) {
  if (std::ranges::any_of(term, [](char c) { return c >= '0' && c <= '9'; })) {
    return Fail(ErrorCode::kParse, "term '{}' contains a digit", term);
  }
  const size_t at = term.find("...");
  if (at != std::string::npos) {
    std::string digits;
    for (int64_t i = ellipsis; i-- > 0;) digits += static_cast<char>('0' + i);
    term.replace(at, 3, digits);
  }
  for (size_t i = 0; i < term.size(); ++i) {
    const bool valid = std::isalnum(static_cast<unsigned char>(term[i])) != 0;
    if (!valid) return Fail(ErrorCode::kParse, "equation contains '{}'", term[i]);
    if (term.find(term[i], i + 1) != std::string::npos) {
      return Fail(ErrorCode::kUnsupported, "a label twice in one operand is not supported");
    }
  }
  return term;
}

struct Equation {
  std::vector<std::string> terms;
  std::optional<std::string> result;
};

Equation Split(std::string text) {
  std::erase(text, ' ');
  Equation equation;
  const size_t arrow = text.find("->");
  if (arrow != std::string::npos) equation.result = text.substr(arrow + 2);
  const std::string left = text.substr(0, arrow);
  for (size_t begin = 0; begin <= left.size();) {
    const size_t end = std::min(left.find(',', begin), left.size());
    equation.terms.push_back(left.substr(begin, end - begin));
    begin = end + 1;
  }
  return equation;
}

Result<LabelledOperand> SumOut(const NodeContext& node, const LabelledOperand& x,
                               const std::string& retained) {
  std::vector<int64_t> axes;
  for (size_t i = 0; i < x.labels.size(); ++i) {
    if (!retained.contains(x.labels[i])) axes.push_back(static_cast<int64_t>(i));
  }
  if (axes.empty()) return x;
  TUNEC_ASSIGN(const Operand sum,
               node.Emit(Op::kReduceSum, {x.value}, {{"axes", axes}, {"keepdims", int64_t{0}}}));
  return LabelledOperand{sum, Where(x.labels, [&](char c) { return retained.contains(c); })};
}

Result<Operand> Permuted(const NodeContext& node, const LabelledOperand& x,
                         const std::string& order) {
  std::vector<int64_t> perm;
  for (const char label : order) perm.push_back(static_cast<int64_t>(x.labels.find(label)));
  return node.Transpose(x.value, perm);
}

Dim Volume(const LabelledOperand& x, const std::string& labels) {
  Dim volume = 1;
  for (const char label : labels) volume = volume * x.SizeOf(label);
  return volume;
}

/// Gives the common labels of two operands the same sizes. Named sizes that differ are assumed to
/// be equal. There is one reshape for each label, because a reshape only states a number of
/// elements.
Status EqualizeSizes(const NodeContext& node, LabelledOperand& a, LabelledOperand& b) {
  for (const char label : a.labels) {
    if (!b.Has(label) || a.SizeOf(label) == b.SizeOf(label)) continue;
    if (!MayBeEqual({a.SizeOf(label)}, {b.SizeOf(label)}))
      return Fail(ErrorCode::kUnsupported, "label '{}' has sizes {} and {}, expected equal ones",
                  label, Print(a.SizeOf(label)), Print(b.SizeOf(label)));
    const bool takes_right = b.SizeOf(label).IsConstant();
    LabelledOperand& changed = takes_right ? a : b;
    std::vector<Dim> shape = changed.value->shape;
    shape[changed.labels.find(label)] = (takes_right ? b : a).SizeOf(label);
    TUNEC_ASSIGN(changed.value, node.Reshape(changed.value, shape));
  }
  return {};
}

/// Returns the product of two operands, summed over labels that are not in `retained`.
Result<LabelledOperand> Join(const NodeContext& node, LabelledOperand a, LabelledOperand b,
                             const std::string& retained) {
  const auto is_retained = [&](char c) { return retained.contains(c); };
  TUNEC_ASSIGN(a, SumOut(node, a, retained + b.labels));
  TUNEC_ASSIGN(b, SumOut(node, b, retained + a.labels));
  TUNEC_RETURN_IF_ERROR(EqualizeSizes(node, a, b));
  const auto batch = Where(a.labels, [&](char c) { return b.Has(c) && is_retained(c); });
  const auto summed = Where(a.labels, [&](char c) { return b.Has(c) && !is_retained(c); });
  const auto left = Where(a.labels, [&](char c) { return !b.Has(c); });
  const auto right = Where(b.labels, [&](char c) { return !a.Has(c); });
  TUNEC_ASSIGN(const Operand x, Permuted(node, a, batch + left + summed));
  TUNEC_ASSIGN(const Operand y, Permuted(node, b, batch + summed + right));
  const Dim batches = Volume(a, batch);
  TUNEC_ASSIGN(const Operand lhs, node.Reshape(x, {batches, Volume(a, left), Volume(a, summed)}));
  TUNEC_ASSIGN(const Operand rhs, node.Reshape(y, {batches, Volume(b, summed), Volume(b, right)}));
  TUNEC_ASSIGN(const Operand product, node.Emit(Op::kMatmul, {lhs, rhs}));
  std::vector<Dim> shape;
  for (const char label : batch + left) shape.push_back(a.SizeOf(label));
  for (const char label : right) shape.push_back(b.SizeOf(label));
  TUNEC_ASSIGN(const Operand result, node.Reshape(product, shape));
  return LabelledOperand{result, batch + left + right};
}

/// Returns the labels of the result of an equation without an arrow. They are the digits of the
/// ellipsis, then the letters that occur once, in ASCII order.
std::string ImplicitResult(const std::vector<LabelledOperand>& operands) {
  std::string all;
  for (const LabelledOperand& operand : operands) all += operand.labels;
  std::string letters =
      Where(all, [&](char c) { return std::isalpha(c) != 0 && std::ranges::count(all, c) == 1; });
  std::ranges::sort(letters);
  std::string digits = Where(all, [](char c) { return std::isdigit(c) != 0; });
  std::ranges::sort(digits, std::greater());
  digits.erase(std::ranges::unique(digits).begin(), digits.end());
  return digits + letters;
}

Result<std::vector<LabelledOperand>> Label(const Operands& inputs, const Equation& equation,
                                           int64_t& ellipsis) {
  if (equation.terms.size() != inputs.size()) {
    return Fail(ErrorCode::kParse, "equation has {} terms for {} operands", equation.terms.size(),
                inputs.size());
  }
  std::vector<LabelledOperand> operands;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const std::string& term = equation.terms[i];
    const auto letters =
        static_cast<int64_t>(std::ranges::count_if(term, [](char c) { return c != '.'; }));
    const bool dots = term.contains("...");
    const int64_t rest = inputs[i]->rank() - letters;
    if (rest < 0 || rest > 10 || (rest > 0 && !dots)) {
      return Fail(ErrorCode::kParse, "term '{}' does not fit an operand of rank {}", term,
                  inputs[i]->rank());
    }
    ellipsis = std::max(ellipsis, rest);
    TUNEC_ASSIGN(std::string labels, Expand(term, rest));
    operands.push_back({inputs[i], std::move(labels)});
  }
  return operands;
}

}  // namespace

Result<Operands> Einsum(const NodeContext& node, Op) {
  TUNEC_ASSIGN(const std::string text, node.String("equation", ""));
  TUNEC_ASSIGN(const Operands inputs, node.Inputs());
  const Equation equation = Split(text);
  int64_t ellipsis = 0;
  TUNEC_ASSIGN(std::vector<LabelledOperand> operands, Label(inputs, equation, ellipsis));
  std::string result = ImplicitResult(operands);
  if (equation.result) {
    TUNEC_ASSIGN(result, Expand(*equation.result, ellipsis));
  }
  LabelledOperand joined = operands.front();
  for (size_t i = 1; i < operands.size(); ++i) {
    std::string retained = result;
    for (size_t j = i + 1; j < operands.size(); ++j) retained += operands[j].labels;
    TUNEC_ASSIGN(joined, Join(node, joined, operands[i], retained));
  }
  TUNEC_ASSIGN(joined, SumOut(node, joined, result));
  for (const char label : result) {
    if (!joined.Has(label)) return Fail(ErrorCode::kParse, "no operand has the label '{}'", label);
  }
  return One(Permuted(node, joined, result));
}

}  // namespace tunec::onnx_import
