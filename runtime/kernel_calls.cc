#include "runtime/kernel_calls.h"

#include <algorithm>
#include <cstring>

#include "support/check.h"

namespace tunec {
namespace {

constexpr int64_t kCopyChunk = 256 << 10;

}  // namespace

size_t ScratchStride(int64_t scratch_bytes) {
  const size_t granule = scratch_bytes > 4096 ? 4096 : 128;
  return (static_cast<size_t>(scratch_bytes) + granule - 1) / granule * granule;
}

size_t CountParallelPhases(const Kernel& kernel) {
  size_t count = 0;
  for (const KernelPhase& phase : kernel.phases) count += phase.waves;
  return count;
}

void KernelCalls::Reserve(size_t parallel_phases) {
  TUNEC_CHECK(calls_.empty(), "room is reserved behind {} calls", calls_.size());
  calls_.reserve(parallel_phases);
  phases_.reserve(parallel_phases);
}

void KernelCalls::Append(const Call& call, ParallelPhase phase) {
  TUNEC_CHECK(calls_.size() < calls_.capacity(), "no room for a call behind {}", calls_.size());
  phase.context = &calls_.emplace_back(call);
  phases_.push_back(phase);
}

std::span<const ParallelPhase> KernelCalls::Add(const Kernel& kernel, const KernelMemory& memory) {
  const size_t first = phases_.size();
  for (const KernelPhase& phase : kernel.phases) {
    const int64_t tasks = phase.tasks / phase.waves;
    for (int64_t task = 0; task < phase.tasks; task += tasks) {
      Append({.function = phase.function, .first = task, .memory = memory},
             {RunTasks, nullptr, tasks});
    }
  }
  return std::span(phases_).subspan(first);
}

std::span<const ParallelPhase> KernelCalls::AddCopy(void* const* arguments, int64_t bytes) {
  const int64_t chunks = (bytes + kCopyChunk - 1) / kCopyChunk;
  Append({.memory = {.arguments = arguments}, .copy_bytes = bytes}, {CopyChunks, nullptr, chunks});
  return std::span(phases_).last(1);
}

void KernelCalls::RunTasks(void* context, int64_t begin, int64_t end, int thread) {
  const Call& call = *static_cast<const Call*>(context);
  const KernelMemory& memory = call.memory;
  std::byte* scratch = memory.scratch + memory.scratch_stride * thread;
  for (int64_t task = begin; task < end; ++task)
    call.function(memory.arguments, memory.workspace, scratch, call.first + task);
}

void KernelCalls::CopyChunks(void* context, int64_t begin, int64_t end, int) {
  const Call& call = *static_cast<const Call*>(context);
  const int64_t first = begin * kCopyChunk;
  const int64_t last = std::min(end * kCopyChunk, call.copy_bytes);
  std::memcpy(static_cast<std::byte*>(call.memory.arguments[1]) + first,
              static_cast<const std::byte*>(call.memory.arguments[0]) + first, last - first);
}

}  // namespace tunec
