#include "runtime/bundle/check_plan.h"

#include <cstring>
#include <string>
#include <utility>

#include "runtime/bundle/format.h"

namespace tunec::bundle {
namespace {

using Kind = ValueRef::Kind;

constexpr int64_t kMostThreads = 4096;

template <class... Args>
std::unexpected<Error> Damaged(fmt::format_string<Args...> format, Args&&... args) {
  return Fail(ErrorCode::kParse, "the bundle's plan is damaged: {}",
              fmt::format(format, std::forward<Args>(args)...));
}

template <class T>
bool AreInRange(std::span<const std::byte> bytes, const TrustedRange& range) {
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof value);
    if (std::cmp_less(value, range.least) || std::cmp_greater(value, range.most)) return false;
  }
  return true;
}

bool AreInRange(std::span<const std::byte> bytes, const TrustedRange& range) {
  switch (range.type) {
    case DataType::kI8:
      return AreInRange<int8_t>(bytes, range);
    case DataType::kU8:
      return AreInRange<uint8_t>(bytes, range);
    case DataType::kI16:
      return AreInRange<int16_t>(bytes, range);
    case DataType::kU16:
      return AreInRange<uint16_t>(bytes, range);
    case DataType::kI32:
      return AreInRange<int32_t>(bytes, range);
    case DataType::kU32:
      return AreInRange<uint32_t>(bytes, range);
    case DataType::kI64:
      return AreInRange<int64_t>(bytes, range);
    case DataType::kU64:
      return AreInRange<uint64_t>(bytes, range);
    default:
      return false;
  }
}

// The part of a plan to which a step belongs. Steps of the preprocessing use only constants.
enum class Part : uint8_t { kPreprocessing, kRun };

class PlanChecker {
 public:
  PlanChecker(const StoredPlan& plan, const PlanKernels& kernels,
              std::span<const std::byte> weights)
      : plan_(plan), kernels_(kernels), weights_(weights) {}

  Status Run() const;

 private:
  Status CheckConstant(const StoredConstant& constant) const;
  Status CheckSteps(const std::vector<StoredStep>& steps, Part part) const;
  Status CheckStep(const StoredStep& step, Part part) const;
  Status CheckArgument(const ValueRef& ref, const ArgumentContract& contract, Part part) const;
  Status CheckWritable(const ValueRef& ref, Part part) const;
  Status CheckRange(const ValueRef& ref, const ArgumentContract& contract) const;
  Status CheckAligned(const ValueRef& ref, int64_t alignment) const;
  Result<int64_t> BytesOf(const std::vector<TensorSpec>& specs, int32_t index) const;
  Result<int64_t> BytesBehind(const ValueRef& ref) const;
  int64_t AlignmentBehind(const ValueRef& ref) const;

  const StoredPlan& plan_;
  const PlanKernels& kernels_;
  std::span<const std::byte> weights_;
};

Status PlanChecker::CheckConstant(const StoredConstant& constant) const {
  if (constant.offset == kNothing) return {};
  const auto offset = static_cast<uint64_t>(constant.offset);  // a negative offset becomes huge
  const auto bytes = static_cast<uint64_t>(constant.bytes);
  if (offset % kConstantAlignment == 0 && offset <= weights_.size() &&
      bytes <= weights_.size() - offset)
    return {};
  return Damaged("constant '{}' of {} bytes is at offset {} of {} bytes of weights", constant.name,
                 constant.bytes, constant.offset, weights_.size());
}

Result<int64_t> PlanChecker::BytesOf(const std::vector<TensorSpec>& specs, int32_t index) const {
  if (static_cast<size_t>(index) >= specs.size())
    return Damaged("there is no tensor {} of {}", index, specs.size());
  return ByteSize(specs[index]);
}

Result<int64_t> PlanChecker::BytesBehind(const ValueRef& ref) const {
  switch (ref.kind) {
    case Kind::kInput:
      return BytesOf(plan_.inputs, ref.index);
    case Kind::kOutput:
      return BytesOf(plan_.outputs, ref.index);
    case Kind::kConstant:
      if (static_cast<size_t>(ref.index) < plan_.constants.size())
        return plan_.constants[ref.index].bytes;
      return Damaged("there is no constant {} of {}", ref.index, plan_.constants.size());
    case Kind::kArena:
      return plan_.arena_bytes;
  }
  return Damaged("there is no kind of argument {}", static_cast<int>(ref.kind));
}

// Returns the guaranteed alignment of the buffer that `ref` names, in bytes. Requires: BytesBehind
// succeeded.
int64_t PlanChecker::AlignmentBehind(const ValueRef& ref) const {
  if (ref.kind == Kind::kInput) return static_cast<int64_t>(SizeOf(plan_.inputs[ref.index].type));
  if (ref.kind == Kind::kOutput) return static_cast<int64_t>(SizeOf(plan_.outputs[ref.index].type));
  return kConstantAlignment;
}

Status PlanChecker::CheckWritable(const ValueRef& ref, Part part) const {
  if (part == Part::kRun && (ref.kind == Kind::kOutput || ref.kind == Kind::kArena)) return {};
  if (part == Part::kPreprocessing && ref.kind == Kind::kConstant &&
      plan_.constants[ref.index].offset == kNothing)
    return {};
  return Damaged("something is written that is only read");
}

Status PlanChecker::CheckRange(const ValueRef& ref, const ArgumentContract& contract) const {
  const bool stored = ref.kind == Kind::kConstant && plan_.constants[ref.index].offset != kNothing;
  if (!stored) return Damaged("indices are not constants of the file");
  const auto offset = static_cast<size_t>(plan_.constants[ref.index].offset + ref.offset);
  if (AreInRange(weights_.subspan(offset, static_cast<size_t>(contract.bytes)), *contract.range))
    return {};
  return Damaged("indices lie outside {} to {}", contract.range->least, contract.range->most);
}

// Checks that the address of `ref` is a multiple of `alignment` bytes. Requires: BytesBehind
// succeeded.
Status PlanChecker::CheckAligned(const ValueRef& ref, int64_t alignment) const {
  if (AlignmentBehind(ref) % alignment == 0 && ref.offset % alignment == 0) return {};
  return Damaged("an argument at {} is not aligned to {}", ref.offset, alignment);
}

Status PlanChecker::CheckArgument(const ValueRef& ref, const ArgumentContract& contract,
                                  Part part) const {
  TUNEC_ASSIGN(const int64_t bytes, BytesBehind(ref));
  if (ref.offset > bytes || contract.bytes > bytes - ref.offset)
    return Damaged("an argument of {} bytes is at offset {} of {}", contract.bytes, ref.offset,
                   bytes);
  TUNEC_RETURN_IF_ERROR(CheckAligned(ref, contract.alignment));
  if (contract.written) TUNEC_RETURN_IF_ERROR(CheckWritable(ref, part));
  return contract.range ? CheckRange(ref, contract) : Status();
}

Status PlanChecker::CheckStep(const StoredStep& step, Part part) const {
  if (step.kernel == kNothing) {
    for (const ValueRef& ref : step.arguments) TUNEC_RETURN_IF_ERROR(BytesBehind(ref));
    // Verify checks that a copy stays within its two buffers.
    if (step.arguments.size() != 2) return Damaged("a copy has {} ends", step.arguments.size());
    return CheckWritable(step.arguments[1], part);
  }
  const auto& kernels = part == Part::kPreprocessing ? kernels_.preprocessing : kernels_.steps;
  if (static_cast<uint64_t>(step.kernel) >= kernels.size() || step.copy_bytes != 0)
    return Damaged("there is no kernel {} of {}", step.kernel, kernels.size());
  const KernelContract& kernel = kernels[step.kernel];
  if (kernel.arguments.size() != step.arguments.size())
    return Damaged("{} arguments given, expected {}", step.arguments.size(),
                   kernel.arguments.size());
  for (size_t i = 0; i < step.arguments.size(); ++i)
    TUNEC_RETURN_IF_ERROR(CheckArgument(step.arguments[i], kernel.arguments[i], part));
  return {};
}

Status PlanChecker::CheckSteps(const std::vector<StoredStep>& steps, Part part) const {
  for (const StoredStep& step : steps) {
    Status status = CheckStep(step, part);
    if (status) continue;
    status.error().message = fmt::format("step '{}': {}", step.name, status.error().message);
    return status;
  }
  return {};
}

Status PlanChecker::Run() const {
  if (plan_.threads < 1 || plan_.threads > kMostThreads)
    return Damaged("it is for {} threads", plan_.threads);
  for (const StoredConstant& constant : plan_.constants)
    TUNEC_RETURN_IF_ERROR(CheckConstant(constant));
  for (const IndexCheck& check : plan_.index_checks) {
    TUNEC_RETURN_IF_ERROR(
        BytesBehind(check.indices));  // Verify checks that the indices are within the buffer
    TUNEC_RETURN_IF_ERROR(CheckAligned(check.indices, static_cast<int64_t>(SizeOf(check.type))));
  }
  TUNEC_RETURN_IF_ERROR(CheckSteps(plan_.preprocessing, Part::kPreprocessing));
  return CheckSteps(plan_.steps, Part::kRun);
}

}  // namespace

Status CheckPlan(const StoredPlan& plan, const PlanKernels& kernels,
                 std::span<const std::byte> weights) {
  return PlanChecker(plan, kernels, weights).Run();
}

}  // namespace tunec::bundle
