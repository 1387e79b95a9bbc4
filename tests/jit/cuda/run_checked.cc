#include "tests/jit/cuda/run_checked.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "jit/cuda/cuda_generator.h"
#include "jit/cuda/emulate/emulate.h"
#include "jit/cuda/emulate/regions.h"

namespace tunec::jit_test {
namespace {

constexpr size_t kElements = 1024;

struct alignas(128) Memory {
  std::array<float, kElements + 1> elements = {};
};

}  // namespace

void RunChecked(const LoopNest& nest, int times, Placing placing) {
  const LoopNest mapped = *MakeCudaGenerator()->MapThreads(nest);
  const auto image = CompileEmulated(mapped, EmulationMode::kChecked);
  ASSERT_TRUE(image) << image.error().message;
  const auto kernel = LoadEmulated(*image);
  ASSERT_TRUE(kernel) << kernel.error().message;
  Memory a;
  Memory c;
  const size_t first = placing == Placing::kAligned ? 0 : 1;
  const std::vector<TensorId> ids = Arguments(nest);
  ASSERT_EQ(ids.size(), 2);
  void* arguments[] = {&a.elements.at(first), &c.elements.at(first)};
  const CheckedRegion of_a(arguments[0], StorageBytes(nest.tensors[ids[0]]), "A");
  const CheckedRegion of_c(arguments[1], StorageBytes(nest.tensors[ids[1]]), "C");
  for (int run = 0; run < times; ++run)
    for (const KernelPhase& phase : kernel->phases)
      for (int64_t block = 0; block < phase.tasks; ++block)
        phase.function(arguments, nullptr, nullptr, block);
}

void RunChecked(const std::string& text, int times) {
  const auto nest = ParseLoopNest(text, "n");
  ASSERT_TRUE(nest) << nest.error().Format();
  RunChecked(*nest, times);
}

std::string Nest(const std::string& body, const std::string& a, const std::string& blocks) {
  return R"(
nest checked {
  input A: )" +
         a + R"(
  output C: f32[128]
  local s: f32[1024]
  phase main {
    grid.x for b in 0 .. )" +
         blocks + R"( {
      alloc s: shared {
)" + body +
         R"(
      }
    }
  }
}
)";
}

}  // namespace tunec::jit_test
