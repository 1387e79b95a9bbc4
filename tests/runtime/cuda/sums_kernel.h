// A kernel of two phases for a scripted driver.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "runtime/cuda/cubin.h"
#include "runtime/kernel_image.h"
#include "tests/runtime/cuda/sample_cubin.h"
#include "tests/scripted_cuda/script.h"

namespace tunec {

inline constexpr size_t kFloats = 12;
inline constexpr size_t kSumsBytes = kFloats * sizeof(float);

/// Returns the image of a kernel without code, for which RunSums computes. Phase `first` is W = A +
/// 1 in three waves of two blocks. Phase `second` is C = 2 * W in one wave of three blocks. W is
/// the workspace. The parameters of a launch are A, C, W and the number of the wave's first block.
inline KernelImage SumsImage() {
  return {.format = std::string(kCubinFormat),
          .bytes = SampleCubin(),
          .phases = {{.symbol = "first", .grid = {3, 2, 1}, .block = {2, 1, 1}, .waves = 3},
                     {.symbol = "second",
                      .grid = {3, 1, 1},
                      .block = {4, 2, 1},
                      .shared_bytes = 64 << 10}},
          .workspace_bytes = kSumsBytes};
}

template <class T>
T Parameter(const scripted_cuda::Launch& launch, size_t number) {
  return *static_cast<T*>(launch.parameters[number]);
}

inline void RunSums(const scripted_cuda::Launch& launch) {
  const bool adds = launch.symbol == "first";
  const auto* const from = Parameter<const float*>(launch, adds ? 0 : 2);
  auto* const to = Parameter<float*>(launch, adds ? 2 : 1);
  const auto first = static_cast<size_t>(Parameter<int64_t>(launch, 3));
  const size_t each = adds ? 2 : 4;  // elements per block
  for (size_t i = first * each; i < (first + launch.blocks) * each; ++i) {
    to[i] = adds ? from[i] + 1 : from[i] * 2;
  }
}

}  // namespace tunec
