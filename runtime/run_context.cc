#include "runtime/run_context.h"

#include <algorithm>
#include <cstring>

#include "runtime/count_outside.h"

namespace tunec {
namespace {

constexpr int64_t kCopyChunk = 256 << 10;

// Threads write their scratch at the same time: keep them off each other's cache lines, and large
// ones off each other's pages, so that each is placed near the thread that first touches it.
size_t ScratchStride(int64_t bytes) {
  const size_t granule = bytes > 4096 ? 4096 : 128;
  return (static_cast<size_t>(bytes) + granule - 1) / granule * granule;
}

}  // namespace

bool Overlap(const void* a, int64_t a_bytes, const void* b, int64_t b_bytes) {
  const auto a_begin = reinterpret_cast<uintptr_t>(a);
  const auto b_begin = reinterpret_cast<uintptr_t>(b);
  return a_bytes > 0 && b_bytes > 0 && a_begin < b_begin + b_bytes && b_begin < a_begin + a_bytes;
}

Result<std::unique_ptr<RunContext>> RunContext::Make(std::span<const Step> steps,
                                                     int64_t arena_bytes,
                                                     std::span<std::byte* const> constants,
                                                     int threads) {
  std::unique_ptr<RunContext> context(new RunContext);
  TUNEC_RETURN_IF_ERROR(context->Allocate(steps, arena_bytes, threads));
  context->Prepare(steps, constants);
  return context;
}

Status RunContext::Allocate(std::span<const Step> steps, int64_t arena_bytes, int threads) {
  int64_t workspace_bytes = 0;
  int64_t scratch_bytes = 0;
  for (const Step& step : steps) {
    workspace_bytes = std::max(workspace_bytes, step.kernel.workspace_bytes);
    scratch_bytes = std::max(scratch_bytes, step.kernel.scratch_bytes);
  }
  scratch_stride_ = ScratchStride(scratch_bytes);
  TUNEC_ASSIGN(arena_, Buffer::Allocate(arena_bytes));
  TUNEC_ASSIGN(workspace_, Buffer::Allocate(workspace_bytes));
  TUNEC_ASSIGN(scratch_, Buffer::Allocate(scratch_stride_ * threads));
  return {};
}

void RunContext::Prepare(std::span<const Step> steps, std::span<std::byte* const> constants) {
  // All vectors get their final size first: calls and spans hold addresses of their elements.
  size_t arguments = 0;
  size_t phases = 0;
  for (const Step& step : steps) {
    arguments += step.arguments.size();
    if (step.copy_bytes > 0) ++phases;
    for (const KernelPhase& phase : step.kernel.phases) phases += phase.waves;
  }
  arguments_.reserve(arguments);
  calls_.reserve(phases);
  phases_.reserve(phases);
  steps_.reserve(steps.size());
  for (const Step& step : steps) {
    const size_t first_argument = arguments_.size();
    const size_t first_phase = phases_.size();
    AddArguments(step, constants);
    AddPhases(step, first_argument);
    steps_.emplace_back(phases_.data() + first_phase, phases_.size() - first_phase);
  }
}

void RunContext::AddArguments(const Step& step, std::span<std::byte* const> constants) {
  for (const ValueRef& ref : step.arguments) {
    std::byte* base = nullptr;
    if (ref.kind == ValueRef::Kind::kConstant) {
      base = constants[ref.index];
    } else if (ref.kind == ValueRef::Kind::kArena) {
      base = arena_.data();
    } else {
      const bool output = ref.kind == ValueRef::Kind::kOutput;
      caller_arguments_.push_back({arguments_.size(), output, ref.index, ref.offset});
    }
    arguments_.push_back(base == nullptr ? nullptr : base + ref.offset);
  }
}

void RunContext::AddPhases(const Step& step, size_t first_argument) {
  Call call{.function = nullptr,
            .first = 0,
            .arguments = arguments_.data() + first_argument,
            .workspace = workspace_.data(),
            .scratch = scratch_.data(),
            .scratch_stride = scratch_stride_,
            .copy_bytes = step.copy_bytes};
  if (step.copy_bytes > 0) {
    const int64_t chunks = (step.copy_bytes + kCopyChunk - 1) / kCopyChunk;
    phases_.push_back({CopyChunks, &calls_.emplace_back(call), chunks});
    return;
  }
  for (const KernelPhase& phase : step.kernel.phases) {
    call.function = phase.function;
    const int64_t tasks = phase.tasks / phase.waves;
    for (call.first = 0; call.first < phase.tasks; call.first += tasks) {
      phases_.push_back({RunTasks, &calls_.emplace_back(call), tasks});
    }
  }
}

Status RunContext::Bind(std::span<const void* const> inputs, std::span<const int64_t> input_bytes,
                        std::span<void* const> outputs, std::span<const int64_t> output_bytes) {
  const auto overlaps_output = [&](size_t i) {
    for (size_t o = 0; o < outputs.size(); ++o)
      if (Overlap(inputs[i], input_bytes[i], outputs[o], output_bytes[o])) return true;
    return false;
  };
  staged_.resize(inputs.size());
  input_addresses_.resize(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) {
    input_addresses_[i] = static_cast<const std::byte*>(inputs[i]);
    if (!overlaps_output(i)) continue;
    if (staged_[i].size() == 0) {
      TUNEC_ASSIGN(staged_[i], Buffer::Allocate(input_bytes[i]));
    }
    std::memcpy(staged_[i].data(), inputs[i], input_bytes[i]);
    input_addresses_[i] = staged_[i].data();
  }
  for (const CallerArgument& argument : caller_arguments_) {
    // Kernels take all arguments as void*, but write outputs only.
    std::byte* base = argument.output ? static_cast<std::byte*>(outputs[argument.index])
                                      : const_cast<std::byte*>(input_addresses_[argument.index]);
    arguments_[argument.slot] = base + argument.offset;
  }
  return {};
}

int64_t RunContext::CountOutside(const IndexCheck& check, std::span<void* const> outputs,
                                 ThreadPool& pool) {
  const ValueRef& ref = check.indices;
  const std::byte* base = arena_.data();
  if (ref.kind == ValueRef::Kind::kInput) base = input_addresses_[ref.index];
  if (ref.kind == ValueRef::Kind::kOutput) base = static_cast<const std::byte*>(outputs[ref.index]);
  return tunec::CountOutside({base + ref.offset, check.count, check.type}, check.extent, pool);
}

int64_t RunContext::Bytes() const {
  size_t bytes = arena_.size() + workspace_.size() + scratch_.size();
  for (const Buffer& buffer : staged_) bytes += buffer.size();
  return static_cast<int64_t>(bytes);
}

void RunContext::RunTasks(void* context, int64_t begin, int64_t end, int thread) {
  const Call& call = *static_cast<const Call*>(context);
  std::byte* scratch = call.scratch + call.scratch_stride * thread;
  for (int64_t task = begin; task < end; ++task)
    call.function(call.arguments, call.workspace, scratch, call.first + task);
}

void RunContext::CopyChunks(void* context, int64_t begin, int64_t end, int) {
  const Call& call = *static_cast<const Call*>(context);
  const int64_t first = begin * kCopyChunk;
  const int64_t last = std::min(end * kCopyChunk, call.copy_bytes);
  std::memcpy(static_cast<std::byte*>(call.arguments[1]) + first,
              static_cast<const std::byte*>(call.arguments[0]) + first, last - first);
}

}  // namespace tunec
