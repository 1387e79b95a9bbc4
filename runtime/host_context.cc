#include "runtime/host_context.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "runtime/batched_phases.h"
#include "runtime/cache_eviction.h"
#include "runtime/count_outside.h"

namespace tunec {

Result<std::unique_ptr<HostContext>> HostContext::Make(std::span<const Step> steps,
                                                       int64_t arena_bytes,
                                                       std::span<const Constant> constants,
                                                       ThreadPool& pool,
                                                       const InPlaceOutputs& in_place) {
  std::unique_ptr<HostContext> context(new HostContext(pool, in_place));
  TUNEC_RETURN_IF_ERROR(context->Allocate(steps, arena_bytes));
  context->plan_ = steps;
  context->constants_ = constants;
  context->Prepare(steps, constants);
  return context;
}

Status HostContext::Allocate(std::span<const Step> steps, int64_t arena_bytes) {
  int64_t workspace_bytes = 0;
  int64_t scratch_bytes = 0;
  for (const Step& step : steps) {
    workspace_bytes = std::max(workspace_bytes, step.kernel.workspace_bytes);
    scratch_bytes = std::max(scratch_bytes, step.kernel.scratch_bytes);
  }
  scratch_stride_ = ScratchStride(scratch_bytes);
  TUNEC_ASSIGN(arena_, Buffer::Allocate(arena_bytes));
  TUNEC_ASSIGN(workspace_, Buffer::Allocate(workspace_bytes));
  TUNEC_ASSIGN(scratch_, Buffer::Allocate(scratch_stride_ * pool_.threads()));
  return {};
}

void HostContext::Prepare(std::span<const Step> steps, std::span<const Constant> constants) {
  // These vectors reserve their final size first, because calls store addresses of elements.
  size_t arguments = 0;
  size_t phases = 0;
  for (const Step& step : steps) {
    arguments += step.arguments.size();
    phases += step.copy_bytes > 0 ? 1 : CountParallelPhases(step.kernel);
  }
  arguments_.reserve(arguments);
  calls_.Reserve(phases);
  steps_.reserve(steps.size());
  for (const Step& step : steps) {
    const size_t first_argument = arguments_.size();
    AddArguments(step, constants);
    AddCalls(step, first_argument);
  }
}

void HostContext::AddArguments(const Step& step, std::span<const Constant> constants) {
  for (const ValueRef& ref : step.arguments) {
    std::byte* base = nullptr;
    if (ref.kind == ValueRef::Kind::kConstant) {
      // Kernels take all arguments as void*.
      base = static_cast<std::byte*>(const_cast<void*>(constants[ref.index].data.get()));
    } else if (ref.kind == ValueRef::Kind::kArena) {
      base = arena_.data();
    } else {
      const bool output = ref.kind == ValueRef::Kind::kOutput;
      caller_arguments_.push_back({arguments_.size(), output, ref.index, ref.offset});
    }
    arguments_.push_back(base == nullptr ? nullptr : base + ref.offset);
  }
}

void HostContext::AddCalls(const Step& step, size_t first_argument) {
  void* const* arguments = arguments_.data() + first_argument;
  if (step.copy_bytes > 0) {
    steps_.push_back(calls_.AddCopy(arguments, step.copy_bytes));
    return;
  }
  steps_.push_back(calls_.Add(step.kernel, {.arguments = arguments,
                                            .workspace = workspace_.data(),
                                            .scratch = scratch_.data(),
                                            .scratch_stride = scratch_stride_}));
}

Status HostContext::Bind(const RunBuffers& buffers) {
  const auto& [inputs, input_bytes, outputs, output_bytes, options] = buffers;
  const auto overlaps_output = [&](size_t i) {
    for (size_t o = 0; o < outputs.size(); ++o) {
      if (inputs[i] == outputs[o] && in_place_.Allows(i, o)) continue;
      if (Overlap(inputs[i], input_bytes[i], outputs[o], output_bytes[o])) return true;
    }
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
    // Kernels take all arguments as void*, but write only outputs.
    std::byte* base = argument.output ? static_cast<std::byte*>(outputs[argument.index])
                                      : const_cast<std::byte*>(input_addresses_[argument.index]);
    arguments_[argument.slot] = base + argument.offset;
  }
  return {};
}

void HostContext::RunSteps(std::span<double> seconds) {
  using Clock = std::chrono::steady_clock;
  if (seconds.empty()) {
    pool_.RunPhases(calls_.All());  // the workers stay from the first kernel to the last
    return;
  }
  if (seconds.size() > steps_.size()) return RepeatSteps(seconds);
  auto before = Clock::now();
  for (size_t i = 0; i < seconds.size(); ++i) {
    pool_.RunPhases(steps_[i]);
    const auto after = Clock::now();
    seconds[i] = std::chrono::duration<double>(after - before).count();
    before = after;
  }
}

// Runs each step several times. Before each time, its constants are evicted from the caches, and
// other data leaves the first two levels, as in the tuner's measurements.
void HostContext::RepeatSteps(std::span<double> seconds) {
  using Clock = std::chrono::steady_clock;
  const size_t times = seconds.size() / steps_.size();
  CacheDisplacement displacement(pool_.threads());
  for (size_t step = 0; step < steps_.size(); ++step) {
    std::vector<std::span<const std::byte>> weights;
    for (const ValueRef& ref : plan_[step].arguments) {
      if (ref.kind != ValueRef::Kind::kConstant) continue;
      const Constant& constant = constants_[ref.index];
      weights.emplace_back(static_cast<const std::byte*>(constant.data.get()),
                           static_cast<size_t>(constant.bytes));
    }
    const CacheEviction eviction(weights);
    for (size_t i = 0; i < times; ++i) {
      eviction.Run(pool_);
      displacement.Run(pool_);
      const auto before = Clock::now();
      pool_.RunPhases(steps_[step]);
      seconds[step * times + i] = std::chrono::duration<double>(Clock::now() - before).count();
    }
  }
}

Status HostContext::Run(const RunBuffers& buffers, std::span<double> seconds) {
  TUNEC_RETURN_IF_ERROR(Bind(buffers));
  RunSteps(seconds);
  return {};
}

Status HostContext::RunBatch(std::span<HostContext* const> contexts,
                             std::span<const RunBuffers> buffers) {
  for (size_t i = 0; i < contexts.size(); ++i) TUNEC_RETURN_IF_ERROR(contexts[i]->Bind(buffers[i]));
  const HostContext& first = *contexts.front();
  BatchedPhases phases;
  std::vector<std::span<const ParallelPhase>> runs(contexts.size());
  for (size_t step = 0; step < first.steps_.size(); ++step) {
    std::ranges::transform(contexts, runs.begin(), [&](auto* each) { return each->steps_[step]; });
    phases.Add(runs);
  }
  first.pool_.RunPhases(phases.All());
  return {};
}

Result<int64_t> HostContext::CountOutside(const IndexCheck& check, const RunBuffers& buffers) {
  const ValueRef& ref = check.indices;
  const std::byte* base = arena_.data();
  if (ref.kind == ValueRef::Kind::kInput) base = input_addresses_[ref.index];
  if (ref.kind == ValueRef::Kind::kOutput)
    base = static_cast<const std::byte*>(buffers.outputs[ref.index]);
  return tunec::CountOutside({base + ref.offset, check.count, check.type}, check.extent, pool_);
}

int64_t HostContext::Bytes() const {
  size_t bytes = arena_.size() + workspace_.size() + scratch_.size();
  for (const Buffer& buffer : staged_) bytes += buffer.size();
  return static_cast<int64_t>(bytes);
}

}  // namespace tunec
