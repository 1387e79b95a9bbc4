// Tests of most operators on small operands, against results of numpy, PyTorch and onnx.
#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "graph/ops/op_table.h"
#include "graph/reference.h"
#include "graph/text/graph_text.h"
#include "tests/graph/core/reference_cases.h"

namespace tunec {
namespace {

bool Close(double a, double b, double scale, double tolerance) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (!std::isfinite(a) || !std::isfinite(b)) return a == b;
  return std::abs(a - b) <= tolerance * std::max(scale, std::abs(b));
}

void ExpectClose(const Array& have, const Array& expected, const std::string& text) {
  ASSERT_EQ(have.shape(), expected.shape()) << text;
  double scale = 0;
  for (int64_t i = 0; i < expected.size(); ++i)
    if (std::isfinite(expected.GetDouble(i)))
      scale = std::max(scale, std::abs(expected.GetDouble(i)));
  for (int64_t i = 0; i < expected.size(); ++i)
    ASSERT_TRUE(
        Close(have.GetDouble(i), expected.GetDouble(i), IsFloat(expected.type()) ? scale : 0, 1e-6))
        << text << "element " << i << " is " << have.GetDouble(i) << ", expected "
        << expected.GetDouble(i);
}

TEST(ReferenceCases, EqualIndependentResults) {
  for (const std::string& text : LoadReferenceCases()) {
    const auto graph = ParseGraph(text, "case.graph", NoWeights());
    ASSERT_TRUE(graph.has_value()) << graph.error().Format() << "\n" << text;
    const auto verified = Verify(*graph);
    ASSERT_TRUE(verified.has_value()) << verified.error().Format() << "\n" << text;
    for (const Precision precision : {Precision::kNative, Precision::kFloat64}) {
      const auto results = RunReference(*graph, {}, precision);
      ASSERT_TRUE(results.has_value()) << results.error().Format() << "\n" << text;
      // In float64, a cast to f16 or bf16 does not round, so the results may differ.
      if (precision == Precision::kFloat64 && text.contains("f16")) continue;
      const DataType declared = graph->value(graph->outputs()[0]).type.type;
      const bool wide = precision == Precision::kFloat64 && IsFloat(declared);
      EXPECT_EQ((*results)[0].type(), wide ? DataType::kF64 : declared) << text;
      ExpectClose((*results)[0], (*results)[1], text);
    }
  }
}

TEST(ReferenceCases, SurviveTheirText) {
  for (const std::string& text : LoadReferenceCases()) {
    const auto graph = ParseGraph(text, "case.graph", NoWeights());
    ASSERT_TRUE(graph.has_value()) << graph.error().Format();
    const std::string printed = Print(*graph);
    const auto again = ParseGraph(printed, "printed.graph", NoWeights());
    ASSERT_TRUE(again.has_value()) << again.error().Format() << "\n" << printed;
    EXPECT_EQ(Print(*again), printed);
  }
}

TEST(ReferenceCases, CoverEveryOperator) {
  std::set<std::string> covered;
  for (const std::string& text : LoadReferenceCases())
    covered.insert(text.substr(6, text.find(' ', 6) - 6));
  const std::set<std::string_view> not_executed = {"input", "constant", "if",
                                                   "while", "scan",     "free"};
  for (const Op op : kAllOps)
    EXPECT_TRUE(covered.contains(std::string(Name(op))) || not_executed.contains(Name(op)))
        << Name(op) << " has no case";
}

}  // namespace
}  // namespace tunec
