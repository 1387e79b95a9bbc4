// A test that docs/reference/operators.md agrees with the operator tables of the code. `tools/dev
// bless` rewrites the page.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <array>
#include <map>

#include "graph/onnx/handlers/all_handlers.h"
#include "graph/ops/op_table.h"
#include "ir/size/size_text.h"
#include "tests/golden/golden_file.h"

namespace tunec {
namespace {

constexpr std::array<std::string_view, 5> kKinds = {"compute", "data", "shape", "control",
                                                    "memory"};

struct ValueText {
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(double value) const { return fmt::format("{}", value); }
  std::string operator()(const std::string& value) const { return fmt::format("\"{}\"", value); }
  std::string operator()(const SizeExpr& value) const { return Print(value); }
  std::string operator()(const std::vector<SizeExpr>& values) const {
    return fmt::format("[{}]", PrintList(values));
  }
  template <class Element>
  std::string operator()(const std::vector<Element>& values) const {
    return fmt::format("[{}]", fmt::join(values, ", "));
  }
};

std::string OperandsText(const OpSpec& spec) {
  if (spec.max_inputs == kAnyNumber) return fmt::format("{} or more", spec.min_inputs);
  if (spec.min_inputs == spec.max_inputs) return fmt::format("{}", spec.min_inputs);
  return fmt::format("{} to {}", spec.min_inputs, spec.max_inputs);
}

std::string AttributesText(const OpSpec& spec) {
  std::vector<std::string> texts;
  for (const AttributeSpec& attribute : spec.attributes) {
    const bool has_default = attribute.absence == Absence::kDefault;
    texts.push_back(fmt::format(
        "`{}{}`{}", attribute.name,
        has_default ? "=" + std::visit(ValueText(), attribute.default_value) : "",
        attribute.absence == Absence::kError || has_default ? "" : " (may be left out)"));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

std::string OnnxTables() {
  std::map<std::string_view, std::vector<std::string>> of_domain;
  for (const onnx_import::Handler* handler : onnx_import::AllHandlers())
    of_domain[handler->domain].push_back(fmt::format("{} ({})", handler->op_type, handler->since));
  std::string text;
  for (const auto& [domain, operators] : of_domain) {
    text += fmt::format("\n### {}\n\n{} operators:\n\n", domain.empty() ? "ai.onnx" : domain,
                        operators.size());
    for (const std::string& one : operators) text += fmt::format("- {}\n", one);
  }
  return text;
}

std::string GraphTable() {
  std::string text =
      "| operator | kind | operands | attributes |\n"
      "| --- | --- | --- | --- |\n";
  for (const Op op : kAllOps) {
    if (IsLeaf(op)) continue;
    const OpSpec& spec = SpecOf(op);
    text +=
        fmt::format("| `{}` | {} | {} | {} |\n", Name(op), kKinds[static_cast<size_t>(KindOf(op))],
                    OperandsText(spec), AttributesText(spec));
  }
  return text;
}

// Returns the page's section on the accuracy of functions of one operand.
std::string Functions() {
  return R"(
## Functions of one operand

Results of f16, f32 and f64 are off by at most 4 units in the last place of the exact result, also
in tails and where they are denormal. `tests/python/unary_accuracy.py` compares all float16 values
and many others with NumPy. More are:

| function | type | units | reason |
| --- | --- | --- | --- |
| `tanh` | f32 | 4.6 | a ratio of two polynomials, whose roundings add up |
| `erf` | f32 | 5.2 | the same |
| `gelu` | f32, f64 | 5 | polynomials, a quotient and an exponential, whose roundings add up |

In a softmax, weights that would be denormal are 0, unless the contract is `exact`: Intel's
processors need over 100 cycles for an operation on a denormal number
([0064](../decisions/0064_denormal_weights.md)). This applies to each exponential of a difference.

16-bit types are computed in f32 and rounded once at the end of a kernel. A float that does not fit
an integer type keeps low bits when it is cast ([0048](../decisions/0048_casts_keep_low_bits.md)):
300.0 as u8 is 44. QuantizeLinear and its kind saturate.
)";
}

// Returns the page's section on implementation choices that a user may notice.
std::string Choices() {
  return R"(## Choices

ONNX, its reference and the runtimes differ in these cases, or a definition leaves a choice:

- **Resize** has the size floor(size * scale) in float32, as ONNX Runtime and PyTorch have it: 10 by
  1.3 is 13. `align_corners` maps corners to corners of that size, as both do. ONNX's reference
  takes the size before it is rounded down. Two of its node cases ask for that and have other
  numbers here: `test_resize_downsample_scales_linear_align_corners` and
  `test_resize_downsample_scales_cubic_align_corners`.
- **Windows** of pools, filters and bags read their own elements: an infinity or a NaN reaches the
  outputs whose window holds it, and no other. A weight of 0 is no part of a filter's window.
  An infinity or a NaN among a filter's weights may reach outputs where that weight has padding, as
  in PyTorch. Between the strides of a transposed convolution there is no product, and no NaN.
- **Convolutions by Winograd's F(2x2)**, which the contract `f32` allows, may make NaN of an
  infinity in an output's own window. Outputs of other windows keep their numbers. F(4x4), which
  looser contracts allow, may spread it one tile further
  ([0033](../decisions/0033_winograd_by_four.md)). `exact` has neither.
- **TopK and sorts** take NaN for greater than infinity, whatever its sign, and keep equal elements
  in the order of their places.
- **Slice** backwards clamps a start before the axis to its first element. An end of the greatest
  number of i32 or i64 stands for the end of the axis. ONNX Runtime does both.
- **Clip** with a least bound above its greatest one gives the greatest one.
- **Quantised models** (QuantizeLinear, DequantizeLinear, MatMulInteger, ConvInteger) run as
  arithmetic on wider types.
- **Recurrent layers** are unrolled. Their time steps share kernels, because the position of a step
  is no part of a kernel's computation.
- **Inputs that decide a shape or an axis** need a value while compiling. `--constant NAME=VALUE`
  and the option `constants` bind an input to numbers or an array.
- **Scatter** writes in the order of the updates and leaves all other elements. If data and result
  share storage, nothing is copied ([0038](../decisions/0038_scatter.md)).
- **Attributes of 0 or 1** are true for every other number, too.
- **Declared shapes of outputs** must agree with what is computed, or loading fails. Sizes must
  agree where all inputs have fixed sizes. With dynamic shapes only the count of axes must, since
  exporters leave the sizes of one example. A size of 0 and a shape without axes declare nothing.
  `value_info` is not read.
)";
}

std::string Page() {
  return "# Operators\n\n"
         "Made from the tables of `graph/onnx` and `graph/ops/op_list.h`: `tools/dev bless "
         "Golden`\nrewrites it.\n\n"
         "## ONNX\n\n"
         "The importer translates these operators. The number is the opset of the domain that "
         "introduced\nthe operator. `If` with a known condition and functions of the model are "
         "expanded. If nodes cannot\nbe translated, an error lists all of them. "
         "Some attributes and types are not supported.\n" +
         OnnxTables() + "\n" + Choices() +
         "\n## .graph\n\n"
         "These are the operators of the text form ([graph_format.md](graph_format.md)). The "
         "importer\ntranslates ONNX to these operators. "
         "Control and memory are read, printed and verified, not executed.\n\n" +
         GraphTable() + Functions();
}

TEST(OperatorsPage, GoldenIsUpToDate) {
  const std::string path = std::string(TUNEC_TEST_DATA) + "/../docs/reference/operators.md";
  test::ExpectGolden(path, Page());
}

}  // namespace
}  // namespace tunec
