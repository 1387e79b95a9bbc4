// Invariants of an ExecutablePlan:
//   1. Sizes of inputs, outputs, constants, arena, workspace and scratch are valid and >= 0.
//      threads >= 1. Alignments of constants are powers of two up to 64.
//   2. Every argument names an existing buffer, at an offset from 0 to the buffer's size.
//   3. A step is a kernel or a copy, or does nothing (no phases and no bytes). All phases of a
//      kernel have tasks >= 0 in waves of equal size, and a function. The function may be missing
//      in a plan with a rejection and in a device's kernel. A copy has two arguments and stays
//      within both. The two ends of a copy do not overlap, and its target is writable.
//   4. Preprocessing steps name only constants.
//   5. If a step names a constant without data, a preprocessing step names it too.
//   6. Only `steps` name kernels of the device. If there is a device, all kernels of `steps` are
//      kernels of the device.
//   7. An in-place pair names two different arguments of its step.
//   8. The integers of an index check are within an input, an output or the arena.
// The accesses of kernels are not visible here, so they are not checked.
#include "runtime/executable_plan.h"

#include <algorithm>
#include <bit>

#include "runtime/buffer.h"

namespace tunec {
namespace {

using Kind = ValueRef::Kind;

const char* NameOf(Kind kind) {
  switch (kind) {
    case Kind::kInput:
      return "input";
    case Kind::kOutput:
      return "output";
    case Kind::kConstant:
      return "constant";
    case Kind::kArena:
      return "arena";
  }
  return "unknown";
}

// Returns the bytes of the buffer that a reference names. Fails if there is no such buffer.
Result<int64_t> BytesBehind(const ExecutablePlan& plan, const ValueRef& ref) {
  const auto missing = [&](size_t count) {
    return Fail(ErrorCode::kInvalidArgument, "there is no {} {}, only {}", NameOf(ref.kind),
                ref.index, count);
  };
  const auto index = static_cast<size_t>(ref.index);  // a negative index becomes huge
  switch (ref.kind) {
    case Kind::kInput:
      return index < plan.inputs.size() ? ByteSize(plan.inputs[index])
                                        : missing(plan.inputs.size());
    case Kind::kOutput:
      return index < plan.outputs.size() ? ByteSize(plan.outputs[index])
                                         : missing(plan.outputs.size());
    case Kind::kConstant:
      if (index >= plan.constants.size()) return missing(plan.constants.size());
      return plan.constants[index].bytes;
    case Kind::kArena:
      if (index != 0) return missing(1);
      return plan.arena_bytes;
  }
  return Fail(ErrorCode::kInvalidArgument, "there is no kind of argument {}",
              static_cast<int>(ref.kind));
}

Status VerifyReference(const ExecutablePlan& plan, const ValueRef& ref, int64_t bytes) {
  TUNEC_ASSIGN(const int64_t size, BytesBehind(plan, ref));
  if (ref.offset < 0 || ref.offset > size || bytes > size - ref.offset)
    return Fail(ErrorCode::kInvalidArgument, "{} {} has {} bytes, expected {} at offset {}",
                NameOf(ref.kind), ref.index, size, bytes, ref.offset);
  return {};
}

Status VerifyCopy(const Step& step, Kind writable) {
  if (step.copy_bytes < 0 || step.arguments.size() != 2 || !step.kernel.phases.empty())
    return Fail(ErrorCode::kInvalidArgument, "a copy of {} bytes has {} arguments and {} phases",
                step.copy_bytes, step.arguments.size(), step.kernel.phases.size());
  const ValueRef& from = step.arguments[0];
  const ValueRef& to = step.arguments[1];
  const bool same = from.kind == to.kind && from.index == to.index;
  if (same && from.offset < to.offset + step.copy_bytes &&
      to.offset < from.offset + step.copy_bytes)
    return Fail(ErrorCode::kInvalidArgument, "a copy onto itself");
  if (to.kind != writable && to.kind != Kind::kOutput && to.kind != Kind::kArena)
    return Fail(ErrorCode::kInvalidArgument, "a copy writes {} {}", NameOf(to.kind), to.index);
  return {};
}

Status VerifyStep(const ExecutablePlan& plan, const Step& step, Kind writable) {
  for (const ValueRef& ref : step.arguments)
    TUNEC_RETURN_IF_ERROR(VerifyReference(plan, ref, step.copy_bytes));
  if (step.copy_bytes != 0) return VerifyCopy(step, writable);
  for (const KernelPhase& phase : step.kernel.phases)
    if ((phase.function == nullptr && !plan.rejection && !step.code) || phase.tasks < 0)
      return Fail(ErrorCode::kInvalidArgument, "a phase has {} tasks and {} function", phase.tasks,
                  phase.function == nullptr ? "no" : "a");
  for (const KernelPhase& phase : step.kernel.phases)
    if (phase.waves < 1 || phase.tasks % phase.waves != 0)
      return Fail(ErrorCode::kInvalidArgument, "a phase has {} tasks in {} waves", phase.tasks,
                  phase.waves);
  constexpr int64_t kLimit = int64_t{1} << 56;
  for (const int64_t bytes : {step.kernel.workspace_bytes, step.kernel.scratch_bytes})
    if (bytes < 0 || bytes > kLimit)
      return Fail(ErrorCode::kInvalidArgument, "the kernel has {} bytes of workspace or scratch",
                  bytes);
  return {};
}

// Checks that code of a step is for the device or host that runs the step.
Status VerifyCode(const Step& step, bool on_device) {
  const bool nothing = step.kernel.phases.empty() && step.code == nullptr;
  if (nothing || on_device == (step.code != nullptr)) return {};
  return Fail(ErrorCode::kInvalidArgument, "the kernel is {}, its step is run by {}",
              step.code != nullptr ? "a device's" : "the host's",
              on_device ? "the device" : "the host");
}

Status VerifyInPlacePairs(const Step& step) {
  const auto count = static_cast<int32_t>(step.arguments.size());
  for (const auto& [read, written] : step.in_place)
    if (read < 0 || read >= count || written < 0 || written >= count || read == written)
      return Fail(ErrorCode::kInvalidArgument, "arguments {} and {} of {} are one storage", read,
                  written, count);
  return {};
}

Status Named(const Step& step, Status status) {
  if (!status)
    status.error().message = fmt::format("step '{}': {}", step.name, status.error().message);
  return status;
}

Status VerifySizes(const ExecutablePlan& plan) {
  for (const auto* specs : {&plan.inputs, &plan.outputs})
    for (const TensorSpec& spec : *specs) TUNEC_RETURN_IF_ERROR(ByteSize(spec));
  for (const Constant& constant : plan.constants) {
    const auto alignment = static_cast<uint64_t>(constant.alignment);
    if (constant.bytes < 0 || !std::has_single_bit(alignment) || alignment > Buffer::kAlignment)
      return Fail(ErrorCode::kInvalidArgument, "constant '{}' has {} bytes and alignment {}",
                  constant.name, constant.bytes, constant.alignment);
  }
  if (plan.arena_bytes < 0 || plan.threads < 1)
    return Fail(ErrorCode::kInvalidArgument, "the plan has an arena of {} bytes and {} threads",
                plan.arena_bytes, plan.threads);
  return {};
}

Status VerifyIndexCheck(const ExecutablePlan& plan, const IndexCheck& check) {
  if (!IsInteger(check.type) || check.count < 0 || check.extent < 0 ||
      check.indices.kind == Kind::kConstant)
    return Fail(ErrorCode::kInvalidArgument, "{} indices of {} in a {} are checked against {}",
                check.count, Name(check.type), NameOf(check.indices.kind), check.extent);
  const auto size = static_cast<int64_t>(SizeOf(check.type));
  constexpr int64_t kLimit = int64_t{1} << 56;
  return VerifyReference(plan, check.indices, std::min(check.count, kLimit) * size);
}

}  // namespace

Step MakeCopyStep(std::string name, ValueRef from, ValueRef to, int64_t bytes) {
  return {.name = std::move(name),
          .kernel = {},
          .arguments = {from, to},
          .copy_bytes = bytes,
          .code = nullptr};
}

Status Verify(const ExecutablePlan& plan) {
  TUNEC_RETURN_IF_ERROR(VerifySizes(plan));
  std::vector<bool> has_data(plan.constants.size());
  for (size_t i = 0; i < has_data.size(); ++i) has_data[i] = plan.constants[i].data != nullptr;
  for (const Step& step : plan.preprocessing) {
    TUNEC_RETURN_IF_ERROR(Named(step, VerifyStep(plan, step, Kind::kConstant)));
    TUNEC_RETURN_IF_ERROR(Named(step, VerifyCode(step, /*on_device=*/false)));
    for (const ValueRef& ref : step.arguments) {
      if (ref.kind != Kind::kConstant)
        return Named(step, Fail(ErrorCode::kInvalidArgument, "the weight preprocessing names {} {}",
                                NameOf(ref.kind), ref.index));
      has_data[ref.index] = true;
    }
  }
  for (const Step& step : plan.steps) {
    TUNEC_RETURN_IF_ERROR(Named(step, VerifyStep(plan, step, Kind::kOutput)));
    TUNEC_RETURN_IF_ERROR(Named(step, VerifyInPlacePairs(step)));
    TUNEC_RETURN_IF_ERROR(Named(step, VerifyCode(step, plan.device != nullptr)));
    for (const ValueRef& ref : step.arguments)
      if (ref.kind == Kind::kConstant && !has_data[ref.index])
        return Named(step, Fail(ErrorCode::kInvalidArgument, "nothing writes constant '{}'",
                                plan.constants[ref.index].name));
  }
  for (const IndexCheck& check : plan.index_checks)
    TUNEC_RETURN_IF_ERROR(VerifyIndexCheck(plan, check));
  return {};
}

}  // namespace tunec
