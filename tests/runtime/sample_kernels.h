// Hand-written kernels with the signature of generated ones, for vectors of kLength floats.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>
#include <vector>

#include "runtime/executable.h"

namespace tunec {

constexpr int64_t kTasks = 8;
constexpr int64_t kLength = 8 * 40;
constexpr int64_t kBytes = kLength * 4;

using Vector = std::array<float, kLength>;

inline float* Floats(void* address) { return static_cast<float*>(address); }

/// Computes out[i] = a[i] + b[i] for the task's part. Arguments: a, b, out.
inline void AddTask(void* const* args, void*, void*, int64_t task) {
  constexpr int64_t kPart = kLength / kTasks;
  for (int64_t i = task * kPart; i < (task + 1) * kPart; ++i)
    Floats(args[2])[i] = Floats(args[0])[i] + Floats(args[1])[i];
}

/// Writes the sum of the task's part of x to the workspace. Arguments: x, out.
inline void SumTask(void* const* args, void* workspace, void*, int64_t task) {
  constexpr int64_t kPart = kLength / kTasks;
  const float* begin = Floats(args[0]) + task * kPart;
  Floats(workspace)[task] = std::accumulate(begin, begin + kPart, 0.0f);
}
/// Computes out[i] = x[i] - mean(x) for the task's part, from SumTask's sums. Arguments: x, out.
inline void CenterTask(void* const* args, void* workspace, void*, int64_t task) {
  constexpr int64_t kPart = kLength / kTasks;
  const float* sums = Floats(workspace);
  const float mean = std::accumulate(sums, sums + kTasks, 0.0f) / kLength;
  for (int64_t i = task * kPart; i < (task + 1) * kPart; ++i)
    Floats(args[1])[i] = Floats(args[0])[i] - mean;
}

/// Reverses x into out in one task. Arguments: x, out.
inline void ReverseTask(void* const* args, void*, void*, int64_t) {
  for (int64_t i = 0; i < kLength; ++i) Floats(args[1])[i] = Floats(args[0])[kLength - 1 - i];
}

/// Sets out[task] to 1, or to 0 if the values that the task wrote to its scratch have changed.
/// Argument: out.
inline void ScratchTask(void* const* args, void*, void* scratch, int64_t task) {
  auto* own = static_cast<volatile int64_t*>(scratch);
  constexpr int64_t kWords = 64;
  for (int64_t i = 0; i < kWords; ++i) own[i] = task;
  std::this_thread::yield();
  bool intact = true;
  for (int64_t i = 0; i < kWords; ++i) intact = intact && own[i] == task;
  Floats(args[0])[task] = intact ? 1 : 0;
}

/// Sets out[task] to 1 in the first wave. In a later wave it is 1 + the mean of the kTasks results
/// of the previous wave. Argument: out.
inline void WaveTask(void* const* args, void*, void*, int64_t task) {
  float* out = Floats(args[0]);
  const int64_t wave = task / kTasks;
  const float* before = out + (wave - 1) * kTasks;
  out[task] = wave == 0 ? 1 : 1 + std::accumulate(before, before + kTasks, 0.0f) / kTasks;
}

inline Kernel WaveKernel() { return {.phases = {{WaveTask, kLength, kLength / kTasks}}}; }
inline Kernel AddKernel() { return {.phases = {{AddTask, kTasks}}}; }
inline Kernel CenterKernel() {
  return {.phases = {{SumTask, kTasks}, {CenterTask, kTasks}}, .workspace_bytes = kTasks * 4};
}
inline Kernel ReverseKernel() { return {.phases = {{ReverseTask, 1}}}; }
inline Kernel ScratchKernel() {
  return {.phases = {{ScratchTask, kLength}}, .scratch_bytes = 64 * 8};
}

inline TensorSpec VectorSpec(std::string name) {
  return {std::move(name), DataType::kF32, {kLength}};
}

/// Returns first, first + step, ...
inline Vector Ramp(float first, float step) {
  Vector vector;
  for (int64_t i = 0; i < kLength; ++i) vector[i] = first + step * static_cast<float>(i);
  return vector;
}

inline Constant VectorConstant(std::string name, const Vector& values) {
  auto owner = std::make_shared<Vector>(values);
  return {.name = std::move(name), .bytes = kBytes, .data = std::move(owner), .alignment = 4};
}

}  // namespace tunec
