// Tests of values that the compiler stores as bfloat16. It does so only under an accuracy mode that
// rounds operands to bfloat16 anyway.
#include <gtest/gtest.h>

#include "compiler/front_end.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cuda/arch.h"
#include "jit/cuda/emulate/emulate.h"
#include "tests/compiler/models.h"

namespace tunec {
namespace {

using testing::ErrorAgainstReference;
using testing::GraphOf;
using testing::Options;

// A residual block with a stride, a depthwise convolution, a pool and a concatenation.
constexpr std::string_view kImages = R"(graph images {
  input x: f32[1, 16, 19, 21]
  weight a: f32[48, 16, 3, 3]
  weight b: f32[48]
  weight d: f32[48, 1, 3, 3]
  weight e: f32[32, 48, 1, 1]
  weight f: f32[32, 48, 3, 3]
  weight g: f32[24, 112, 3, 3]
  p = conv(x, a, b) {pads=[1, 1, 1, 1]}
  q = relu(p)
  r = conv(q, d) {pads=[1, 1, 1, 1], group=48}
  s = conv(r, e)
  t = conv(q, f) {pads=[1, 1, 1, 1]}
  u = add(s, t)
  v = concat(u, q, t) {axis=1}
  w = conv(v, g) {pads=[1, 1, 1, 1], strides=[2, 2]}
  z = max_pool(w) {kernel=[2, 2], strides=[2, 2]}
  output y = z
})";

constexpr std::string_view kLayers = R"(graph layers {
  input x: f32[21, 64]
  weight a: f32[64, 96]
  weight b: f32[96]
  weight c: f32[96, 64]
  weight s: f32[64]
  weight o: f32[64]
  l = layer_norm(x, s, o)
  m = matmul(l, a)
  n = add(m, b)
  g = gelu(n)
  h = matmul(g, c)
  r = add(h, x)
  k = layer_norm(r, s, o)
  t = matmul(k, a)
  output y = t
})";

CompileOptions OptionsUnder(const char* accuracy) {
  CompileOptions options = Options();
  options.accuracy = *ParseAccuracy(accuracy);
  return options;
}

CompileOptions ForEmulatedGpu(const char* accuracy) {
  CompileOptions options = OptionsUnder(accuracy);
  options.target.device = *CudaAccelerator("sm_80");
  options.target.device->features.emplace(kEmulated);
  return options;
}

size_t StoredValues(const Graph& graph, const CompileOptions& options) {
  const auto front = RunFrontEnd(graph, options);
  EXPECT_TRUE(front) << front.error().Format();
  return front ? front->fusion.stored.size() : 0;
}

class StoredBf16Values : public ::testing::TestWithParam<std::string_view> {};

TEST_P(StoredBf16Values, AreWithinTheContract) {
  const Graph graph = GraphOf(GetParam());
  const CompileOptions options = OptionsUnder("bf16");
  const auto model = Compile(graph, nullptr, options);
  ASSERT_TRUE(model) << model.error().Format();
  const auto error = ErrorAgainstReference(graph, *model->executable);
  ASSERT_TRUE(error) << error.error().Format();
  EXPECT_LT(*error, 0.02);
  if (!options.target.Has("avx512bf16")) GTEST_SKIP() << "a machine without AVX512_BF16";
  EXPECT_GT(StoredValues(graph, options), 1U);
  const auto plain = Compile(graph, nullptr, OptionsUnder("f32"));
  ASSERT_TRUE(plain) << plain.error().Format();
  EXPECT_LT(model->report.arena_bytes, plain->report.arena_bytes);
}

TEST_P(StoredBf16Values, AreWithinTheContractOnADevice) {
  if (!kEmulates) GTEST_SKIP() << "sanitizers cannot follow the emulation's stacks";
  const Graph graph = GraphOf(GetParam());
  const CompileOptions options = ForEmulatedGpu("bf16");
  EXPECT_GT(StoredValues(graph, options), 1U);
  const auto model = Compile(graph, nullptr, options);
  ASSERT_TRUE(model) << model.error().Format();
  const auto error = ErrorAgainstReference(graph, *model->executable);
  ASSERT_TRUE(error) << error.error().Format();
  EXPECT_LT(*error, 0.02);
}

TEST_P(StoredBf16Values, AreForContractsOfOneTerm) {
  for (const char* accuracy : {"exact", "f32", "tf32", "1e-4"}) {
    EXPECT_EQ(StoredValues(GraphOf(GetParam()), OptionsUnder(accuracy)), 0U) << accuracy;
    EXPECT_EQ(StoredValues(GraphOf(GetParam()), ForEmulatedGpu(accuracy)), 0U) << accuracy;
  }
}

TEST_P(StoredBf16Values, AreForTargetsThatMultiplyThem) {
  CompileOptions options = OptionsUnder("bf16");
  options.target = *ParseCpu("haswell", 2);
  EXPECT_EQ(StoredValues(GraphOf(GetParam()), options), 0U);
  CompileOptions device = ForEmulatedGpu("bf16");
  device.target.device->features.erase("sm_80");
  EXPECT_EQ(StoredValues(GraphOf(GetParam()), device), 0U);
}

INSTANTIATE_TEST_SUITE_P(Models, StoredBf16Values, ::testing::Values(kImages, kLayers));

}  // namespace
}  // namespace tunec
