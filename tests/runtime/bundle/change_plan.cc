#include "tests/runtime/bundle/change_plan.h"

#include <array>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace tunec::testing {
namespace {

using bundle::StoredConstant;
using bundle::StoredPlan;
using bundle::StoredStep;

/// Pointers to 64-bit and 32-bit numbers of a plan, to types, and to kinds of ValueRefs.
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
    for (int64_t* const number : {&constant.bytes, &constant.offset})
      numbers.wide.push_back(number);
  for (auto* const steps : {&plan.preprocessing, &plan.steps}) {
    for (StoredStep& step : *steps) {
      for (int64_t* const number : {&step.kernel, &step.copy_bytes}) numbers.wide.push_back(number);
      for (ValueRef& ref : step.arguments) numbers.Add(ref);
    }
  }
  for (IndexCheck& check : plan.index_checks) {
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
      return ChangeList(plan.preprocessing, random);
    case 4:
      return ChangeList(plan.index_checks, random);
    case 5:
      if (!plan.inputs.empty()) ChangeList(OneOf(plan.inputs, random).shape, random);
      return;
    case 6:
      if (!plan.steps.empty()) ChangeList(OneOf(plan.steps, random).arguments, random);
      return;
    case 7:  // adds a preprocessing step to the steps of a run
      if (!plan.preprocessing.empty()) plan.steps.push_back(OneOf(plan.preprocessing, random));
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

namespace {

std::vector<SizeProgram*> ProgramsOf(bundle::StoredSizes& sizes) {
  std::vector<SizeProgram*> programs;
  if (sizes.form.output_extents)
    for (auto& axes : *sizes.form.output_extents)
      for (auto& parts : axes)
        for (SizeProgram& part : parts) programs.push_back(&part);
  for (bundle::StoredSizedPlan& plan : sizes.plans)
    for (SizedParameter& parameter : plan.code.parameters) programs.push_back(&parameter.value);
  return programs;
}

/// Changes one step. The program stays as it was if the result would not be well-formed.
void ChangeProgram(SizeProgram& program, Random& random) {
  std::vector<SizeProgram::Step> steps = program.steps();
  if (steps.empty()) return;
  SizeProgram::Step& step = OneOf(steps, random);
  switch (random.Below(4)) {
    case 0:
      step.kind = static_cast<SizeProgram::Kind>(random.Below(8));
      break;
    case 1:
      step = {SizeProgram::Kind::kConstant, Neighbour(step.value, random)};
      break;
    case 2:
      steps.push_back({SizeProgram::Kind::kConstant, Neighbour(0, random)});
      steps.push_back({static_cast<SizeProgram::Kind>(2 + random.Below(5))});
      break;
    default:
      step.value = Neighbour(step.value, random);
  }
  if (const auto changed = SizeProgram::FromSteps(std::move(steps), SIZE_MAX)) program = *changed;
}

void ChangeCheck(SizeCheck& check, Random& random) {
  if (random.Below(4) == 0) check.kind = static_cast<SizeCondition::Kind>(random.Below(3));
  ChangeProgram(random.Below(2) == 0 ? check.left : check.right, random);
}

void ChangeListed(ListedSizes& listed, Random& random) {
  if (random.Below(8) == 0) listed.step = Neighbour(listed.step, random);
  if (random.Below(2) == 0) return ChangeList(listed.sizes, random);
  if (!listed.sizes.empty()) OneOf(listed.sizes, random) = Neighbour(listed.sizes[0], random);
}

void ChangeAxis(SizedAxis& axis, Random& random) {
  const std::array<int*, 3> numbers = {&axis.input, &axis.axis, &axis.dimension};
  *numbers.at(random.Below(3)) = static_cast<int>(random.Below(5)) - 1;
}

void ChangeSpec(TensorSpec& spec, Random& random) {
  if (spec.shape.empty() || random.Below(3) == 0) {
    spec.type = static_cast<DataType>(random.Below(13));
    return;
  }
  int64_t& size = OneOf(spec.shape, random);
  size = random.Below(2) == 0 ? -1 : Neighbour(size, random);
}

void ChangeExtents(std::optional<OutputExtents>& extents, Random& random) {
  if (!extents) return;
  if (random.Below(4) == 0) {
    extents.reset();
  } else if (!extents->empty()) {
    ChangeList(OneOf(*extents, random), random);
  }
}

void ChangeFlag(std::vector<bool>& flags, Random& random) {
  if (flags.empty()) return;
  const uint64_t at = random.Below(flags.size());
  flags[at] = !flags[at];
}

// Makes one change at most to the form.
void ChangeForm(SizedForm& form, Random& random) {
  auto& specs = random.Below(2) == 0 ? form.inputs : form.outputs;
  switch (random.Below(9)) {
    case 0:
      return ChangeList(form.dimensions, random);
    case 1:
      return ChangeList(form.open, random);
    case 2:
      return ChangeList(form.listed, random);
    case 3:
    case 4:
      if (!form.listed.empty()) ChangeListed(OneOf(form.listed, random), random);
      return;
    case 5:
      if (!form.open.empty()) ChangeAxis(OneOf(form.open, random), random);
      return;
    case 6:
      if (!specs.empty()) ChangeSpec(OneOf(specs, random), random);
      return;
    case 7:
      if (random.Below(2) == 0) return ChangeFlag(form.separable, random);
      if (!form.conditions.empty()) ChangeCheck(OneOf(form.conditions, random), random);
      return;
    default:
      return ChangeExtents(form.output_extents, random);
  }
}

void ChangeCode(SizedCode& code, Random& random) {
  const uint64_t choice = random.Below(4);
  if (choice == 0) return ChangeFlag(code.key.open, random);
  if (choice == 1) return ChangeList(code.conditions, random);
  Sizes& sizes = code.key.sizes;
  if (sizes.empty()) return;
  int64_t& size = OneOf(sizes, random);
  size = Neighbour(size, random);
}

}  // namespace

void ChangeSizes(bundle::StoredSizes& sizes, Random& random) {
  const uint64_t choice = random.Below(10);
  const std::vector<SizeProgram*> programs = ProgramsOf(sizes);
  if (choice < 3 && !programs.empty())
    return ChangeProgram(*programs[random.Below(programs.size())], random);
  if (choice < 6) return ChangeForm(sizes.form, random);
  if (sizes.plans.empty()) return;
  if (choice == 6) return ChangeList(sizes.plans, random);
  bundle::StoredSizedPlan& one = OneOf(sizes.plans, random);
  if (choice == 7) return ChangeCode(one.code, random);
  ChangePlan(one.plan, random);
}

}  // namespace tunec::testing
