#include "runtime/preprocess_weights.h"

#include <algorithm>
#include <cstring>
#include <mutex>
#include <new>
#include <utility>

#include "runtime/buffer.h"
#include "runtime/constant_arena.h"
#include "runtime/host_context.h"
#include "runtime/share_constants.h"

namespace tunec {
namespace {

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
  const bool aligned = constant.bytes == 0 || address % constant.alignment == 0;
  if (constant.data != nullptr && aligned) return {};
  TUNEC_ASSIGN(std::shared_ptr<const void> storage, AllocateShared(constant.bytes));
  if (constant.data != nullptr && constant.bytes > 0)
    std::memcpy(const_cast<void*>(storage.get()), constant.data.get(), constant.bytes);
  constant.data = std::move(storage);
  return {};
}

// Returns the number of steps that name each constant. A constant counts once more if a run step
// names it.
std::vector<size_t> CountUses(const ExecutablePlan& plan) {
  std::vector<size_t> uses(plan.constants.size());
  for (const Step& step : plan.preprocessing)
    for (const ValueRef& ref : step.arguments) ++uses[ref.index];
  const std::vector<bool> named = NamedBySteps(plan.steps, plan.constants.size());
  for (size_t i = 0; i < uses.size(); ++i) uses[i] += named[i] ? 1 : 0;
  return uses;
}

// Returns the numbers of the preprocessing steps in groups, in the order in which the groups must
// run. No two steps of a group name the same constant, unless the constant has data before the
// preprocessing.
std::vector<std::vector<size_t>> IndependentSteps(const ExecutablePlan& plan) {
  std::vector<size_t> first_group(
      plan.constants.size());  // the first one that may read the constant
  std::vector<std::vector<size_t>> groups;
  for (size_t s = 0; s < plan.preprocessing.size(); ++s) {
    const std::vector<ValueRef>& arguments = plan.preprocessing[s].arguments;
    size_t group = 0;
    for (const ValueRef& ref : arguments) group = std::max(group, first_group[ref.index]);
    for (const ValueRef& ref : arguments)
      if (plan.constants[ref.index].data == nullptr) first_group[ref.index] = group + 1;
    groups.resize(std::max(groups.size(), group + 1));
    groups[group].push_back(s);
  }
  return groups;
}

// The preprocessing steps of a plan. Several threads may run different steps of a group at once.
class Preprocessing {
 public:
  explicit Preprocessing(ExecutablePlan& plan) : plan_(plan), uses_left_(CountUses(plan)) {}

  // Releases the constants that no step names.
  void ReleaseUnused() {
    for (size_t i = 0; i < uses_left_.size(); ++i)
      if (uses_left_[i] == 0) plan_.constants[i].data = nullptr;
  }

  Status Run(size_t number, ThreadPool& pool) {
    const InPlaceOutputs none;
    Step step;
    {
      const std::lock_guard lock(mutex_);
      step = std::exchange(plan_.preprocessing[number], {});
      for (const ValueRef& ref : step.arguments)
        TUNEC_RETURN_IF_ERROR(Settle(plan_.constants[ref.index]));
    }
    TUNEC_ASSIGN(auto context, HostContext::Make({&step, 1}, 0, plan_.constants, pool, none));
    TUNEC_RETURN_IF_ERROR(context->Run({}, {}));
    const std::lock_guard lock(mutex_);
    for (const ValueRef& ref : step.arguments)
      if (--uses_left_[ref.index] == 0) plan_.constants[ref.index].data = nullptr;
    return {};
  }

  // Settles the constants that run steps name. Requires: all preprocessing steps were run.
  Status SettleRemaining() {
    for (size_t i = 0; i < uses_left_.size(); ++i)
      if (uses_left_[i] > 0) TUNEC_RETURN_IF_ERROR(Settle(plan_.constants[i]));
    return {};
  }

 private:
  ExecutablePlan& plan_;
  std::mutex mutex_;
  std::vector<size_t> uses_left_;  // per constant
};

// Returns the size in bytes of the constants that each step of a group names.
std::vector<int64_t> BytesOfSteps(const ExecutablePlan& plan, const std::vector<size_t>& group) {
  std::vector<int64_t> bytes;
  for (const size_t s : group) {
    bytes.push_back(0);
    for (const ValueRef& ref : plan.preprocessing[s].arguments)
      bytes.back() += plan.constants[ref.index].bytes;
  }
  return bytes;
}

// Runs the steps of a group. A step that is at least a thread's share of the group runs on the
// whole pool. Each of the other steps runs on one thread of the pool.
Status RunGroup(const ExecutablePlan& plan, Preprocessing& preprocessing,
                const std::vector<size_t>& group, ThreadPool& pool) {
  const std::vector<int64_t> bytes = BytesOfSteps(plan, group);
  double total = 0;
  for (const int64_t of_step : bytes) total += static_cast<double>(of_step);
  const double share = total / pool.threads();
  std::vector<size_t> small;
  for (size_t i = 0; i < group.size(); ++i) {
    if (static_cast<double>(bytes[i]) < share)
      small.push_back(group[i]);
    else
      TUNEC_RETURN_IF_ERROR(preprocessing.Run(group[i], pool));
  }
  std::vector<Status> results(small.size());
  pool.ParallelFor(std::ssize(small), [&](int64_t i, int) {
    try {
      ThreadPool this_thread(1);
      results[i] = preprocessing.Run(small[i], this_thread);
    } catch (const std::bad_alloc&) {
      results[i] = Fail(ErrorCode::kResourceLimit, "no memory for the preprocessing of weights");
    }
  });
  for (Status& result : results) TUNEC_RETURN_IF_ERROR(std::move(result));
  return {};
}

Status RunSteps(ExecutablePlan& plan, ThreadPool& pool) {
  const std::vector<std::vector<size_t>> groups = IndependentSteps(plan);
  Preprocessing preprocessing(plan);
  preprocessing.ReleaseUnused();
  // With a device the constants need no arena: their host memory is temporary, because
  // Executable::Make copies the constants to the device.
  if (plan.device == nullptr) TUNEC_RETURN_IF_ERROR(AllocateInArena(plan));
  for (const std::vector<size_t>& group : groups)
    TUNEC_RETURN_IF_ERROR(RunGroup(plan, preprocessing, group, pool));
  plan.preprocessing.clear();
  return preprocessing.SettleRemaining();
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
