#include "tests/runtime/bundle/change_plan.h"

#include <array>
#include <limits>
#include <utility>
#include <vector>

namespace tunec::testing {
namespace {

using bundle::StoredConstant;
using bundle::StoredIndexCheck;
using bundle::StoredPlan;
using bundle::StoredStep;

/// Where the plan's numbers are, of each width.
struct Numbers {
  std::vector<int64_t*> wide;
  std::vector<int32_t*> narrow;
  std::vector<DataType*> types;
  std::vector<ValueRef::Kind*> kinds;

  void Add(ValueRef& ref) {
    kinds.push_back(&ref.kind);
    narrow.push_back(&ref.index);
    wide.push_back(&ref.offset);
  }
};

Numbers NumbersOf(StoredPlan& plan) {
  Numbers numbers;
  for (auto* const specs : {&plan.inputs, &plan.outputs}) {
    for (TensorSpec& spec : *specs) {
      numbers.types.push_back(&spec.type);
      for (int64_t& size : spec.shape) numbers.wide.push_back(&size);
    }
  }
  for (StoredConstant& constant : plan.constants)
    for (int64_t* const number : {&constant.bytes, &constant.place}) numbers.wide.push_back(number);
  for (auto* const steps : {&plan.prologue, &plan.steps}) {
    for (StoredStep& step : *steps) {
      for (int64_t* const number : {&step.kernel, &step.copy_bytes}) numbers.wide.push_back(number);
      for (ValueRef& ref : step.arguments) numbers.Add(ref);
    }
  }
  for (StoredIndexCheck& check : plan.index_checks) {
    numbers.Add(check.indices);
    numbers.types.push_back(&check.type);
    for (int64_t* const number : {&check.extent, &check.count}) numbers.wide.push_back(number);
  }
  for (int64_t* const number : {&plan.arena_bytes, &plan.threads}) numbers.wide.push_back(number);
  return numbers;
}

template <class T>
T& OneOf(std::vector<T>& things, Random& random) {
  return things[random.Below(things.size())];
}

template <class T>
void ChangeList(std::vector<T>& list, Random& random) {
  if (list.empty()) {
    list.emplace_back();
    return;
  }
  const auto at = list.begin() + static_cast<int64_t>(random.Below(list.size()));
  switch (random.Below(3)) {
    case 0:
      list.erase(at);
      break;
    case 1:
      list.insert(at, T(*at));
      break;
    default:
      std::swap(*at, OneOf(list, random));
  }
}

void ChangeLists(StoredPlan& plan, Random& random) {
  switch (random.Below(9)) {
    case 0:
      return ChangeList(plan.inputs, random);
    case 1:
      return ChangeList(plan.outputs, random);
    case 2:
      return ChangeList(plan.constants, random);
    case 3:
      return ChangeList(plan.prologue, random);
    case 4:
      return ChangeList(plan.index_checks, random);
    case 5:
      if (!plan.inputs.empty()) ChangeList(OneOf(plan.inputs, random).shape, random);
      return;
    case 6:
      if (!plan.steps.empty()) ChangeList(OneOf(plan.steps, random).arguments, random);
      return;
    case 7:  // a step of one part in the other
      if (!plan.prologue.empty()) plan.steps.push_back(OneOf(plan.prologue, random));
      return;
    default:
      return ChangeList(plan.steps, random);
  }
}

}  // namespace

int64_t Neighbour(int64_t value, Random& random) {
  constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const auto plain = static_cast<uint64_t>(value);
  const std::array<uint64_t, 20> choices = {plain + 1,
                                            plain - 1,
                                            0 - plain,
                                            plain * 2,
                                            plain / 2,
                                            plain + 4,
                                            plain + 64,
                                            plain - 64,
                                            plain + 4096,
                                            0,
                                            1,
                                            64,
                                            static_cast<uint64_t>(-1),
                                            static_cast<uint64_t>(kMost),
                                            static_cast<uint64_t>(kLeast),
                                            uint64_t{1} << 31,
                                            uint64_t{1} << 32,
                                            uint64_t{1} << 62,
                                            random.Below(16),
                                            random.Below(1 << 20)};
  return static_cast<int64_t>(choices.at(random.Below(choices.size())));
}

void ChangePlan(StoredPlan& plan, Random& random) {
  if (random.Below(4) == 0) return ChangeLists(plan, random);
  Numbers numbers = NumbersOf(plan);
  const bool elsewhere = random.Below(3) == 0;
  switch (random.Below(6)) {
    case 0:
      if (!numbers.types.empty())
        *OneOf(numbers.types, random) = static_cast<DataType>(random.Below(14));
      return;
    case 1:
      if (!numbers.kinds.empty())
        *OneOf(numbers.kinds, random) = static_cast<ValueRef::Kind>(random.Below(5));
      return;
    case 2:
      if (!numbers.narrow.empty())
        *OneOf(numbers.narrow, random) =
            static_cast<int32_t>(random.Below(4) == 0 ? random.Next() : random.Below(5));
      return;
    default:
      int64_t& number = *OneOf(numbers.wide, random);
      number = elsewhere ? *OneOf(numbers.wide, random) : Neighbour(number, random);
  }
}

}  // namespace tunec::testing
