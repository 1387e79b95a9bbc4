#include "runtime/preprocess_weights.h"

#include <cstring>
#include <mutex>
#include <utility>

#include "runtime/buffer.h"
#include "runtime/constant_arena.h"
#include "runtime/host_context.h"
#include "runtime/share_constants.h"

namespace tunec {
namespace {

using Kind = ValueRef::Kind;

Result<std::shared_ptr<const void>> AllocateShared(int64_t bytes) {
  TUNEC_ASSIGN(Buffer buffer, Buffer::Allocate(bytes));
  auto owner = std::make_shared<Buffer>(std::move(buffer));
  // The result must not be null, even for 0 bytes: a constant with null data counts as missing.
  const void* data = owner->size() > 0 ? static_cast<const void*>(owner->data()) : owner.get();
  return std::shared_ptr<const void>(std::move(owner), data);
}

// Allocates memory for `constant` if it has no data. Copies its data to new memory if the data is
// not aligned as required.
Status Settle(Constant& constant) {
  const auto address = reinterpret_cast<uintptr_t>(constant.data.get());
  if (constant.data != nullptr && address % constant.alignment == 0) return {};
  TUNEC_ASSIGN(std::shared_ptr<const void> storage, AllocateShared(constant.bytes));
  if (constant.data != nullptr && constant.bytes > 0)
    std::memcpy(const_cast<void*>(storage.get()), constant.data.get(), constant.bytes);
  constant.data = std::move(storage);
  return {};
}

// Returns `used_by_run` for each constant that a run step names. Returns for any other constant the
// number of the last preprocessing step that names the constant, or SIZE_MAX if no step does.
std::vector<size_t> LastUses(const ExecutablePlan& plan, size_t used_by_run) {
  std::vector<size_t> last(plan.constants.size(), SIZE_MAX);
  for (size_t s = 0; s < plan.preprocessing.size(); ++s)
    for (const ValueRef& ref : plan.preprocessing[s].arguments) last[ref.index] = s;
  for (const Step& step : plan.steps)
    for (const ValueRef& ref : step.arguments)
      if (ref.kind == Kind::kConstant) last[ref.index] = used_by_run;
  return last;
}

Status RunSteps(ExecutablePlan& plan, ThreadPool& pool) {
  const size_t used_by_run = plan.preprocessing.size();
  const std::vector<size_t> last_use = LastUses(plan, used_by_run);
  const InPlaceOutputs none;
  for (size_t i = 0; i < plan.constants.size(); ++i)
    if (last_use[i] == SIZE_MAX) plan.constants[i].data = nullptr;
  // With a device the constants need no arena: their host memory is temporary, because
  // Executable::Make copies the constants to the device.
  if (plan.device == nullptr) TUNEC_RETURN_IF_ERROR(AllocateInArena(plan));
  for (size_t s = 0; s < plan.preprocessing.size(); ++s) {
    Step step = std::exchange(plan.preprocessing[s], {});
    for (const ValueRef& ref : step.arguments)
      TUNEC_RETURN_IF_ERROR(Settle(plan.constants[ref.index]));
    TUNEC_ASSIGN(auto context, HostContext::Make({&step, 1}, 0, plan.constants, pool, none));
    TUNEC_RETURN_IF_ERROR(context->Run({}, {}));
    for (const ValueRef& ref : step.arguments)
      if (last_use[ref.index] == s) plan.constants[ref.index].data = nullptr;
  }
  plan.preprocessing.clear();
  for (size_t i = 0; i < plan.constants.size(); ++i)
    if (last_use[i] == used_by_run) TUNEC_RETURN_IF_ERROR(Settle(plan.constants[i]));
  return {};
}

}  // namespace

Status PreprocessWeights(ExecutablePlan& plan, ThreadPool& pool) {
  if (plan.shared == nullptr || plan.device != nullptr) return RunSteps(plan, pool);
  const std::vector<std::string> keys = KeysOfConstants(plan);
  // Only one executable at a time searches the table and makes missing constants. So no two
  // executables make the same constant at the same time.
  const std::lock_guard lock(plan.shared->making());
  ReuseSharedConstants(*plan.shared, keys, plan);
  TUNEC_RETURN_IF_ERROR(RunSteps(plan, pool));
  AddSharedConstants(keys, plan, *plan.shared);
  return {};
}

}  // namespace tunec
