// Convolutions by Winograd's tiles through the whole compiler.
#include <gtest/gtest.h>

#include "tests/compiler/models.h"

namespace tunec {
namespace {

using testing::ErrorAgainstReference;
using testing::GraphOf;
using testing::Options;

// Two of many channels, of an odd size, with a residual.
constexpr std::string_view kBlock = R"(graph block {
  input x: f32[2, 32, 15, 17]
  weight u: f32[48, 32, 3, 3]
  weight b: f32[48]
  weight v: f32[32, 48, 3, 3]
  c = conv(x, u, b) {pads=[1, 1, 1, 1]}
  r = relu(c)
  d = conv(r, v) {pads=[1, 1, 1, 1]}
  s = add(d, x)
  t = relu(s)
  output y = t
})";

int CountLowering(const CompiledModel& model, std::string_view lowering) {
  int found = 0;
  for (const KernelReport& kernel : model.report.kernels) {
    found += kernel.schedule.starts_with(lowering) ? 1 : 0;
  }
  return found;
}

TEST(Winograd, IsChosenUntunedAndWithinTheContract) {
  const Graph graph = GraphOf(kBlock);
  const auto model = Compile(graph, nullptr, Options());
  ASSERT_TRUE(model) << model.error().Format();
  EXPECT_GE(CountLowering(*model, "lower winograd"), 1);
  const auto error = ErrorAgainstReference(graph, *model->executable);
  ASSERT_TRUE(error) << error.error().Format();
  EXPECT_LT(*error, 2e-6);
}

TEST(Winograd, IsNoChoiceWhereSumsAreExact) {
  const Graph graph = GraphOf(kBlock);
  CompileOptions options = Options();
  options.accuracy = *ParseAccuracy("exact");
  const auto model = Compile(graph, nullptr, options);
  ASSERT_TRUE(model) << model.error().Format();
  EXPECT_EQ(CountLowering(*model, "lower winograd"), 0);
}

}  // namespace
}  // namespace tunec
