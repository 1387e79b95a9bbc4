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

std::vector<SizeFormula*> FormulasOf(bundle::StoredSizes& sizes) {
  std::vector<SizeFormula*> formulas;
  if (sizes.form.output_extents)
    for (auto& axes : *sizes.form.output_extents)
      for (auto& parts : axes)
        for (SizeFormula& part : parts) formulas.push_back(&part);
  for (bundle::StoredSizedPlan& plan : sizes.plans)
    for (SizedParameter& parameter : plan.code.parameters)
      for (SizeFormula& element : parameter.elements) formulas.push_back(&element);
  return formulas;
}

// Returns an expression of a size that may or may not exist.
SizeExpression SomeTerm(Random& random) {
  return SizeExpression::Size(random.Below(4))
      .Times(Neighbour(1, random))
      .Plus(Neighbour(0, random))
      .Over(static_cast<int64_t>(1 + random.Below(64)));
}

void ChangeFormula(SizeFormula& formula, Random& random) {
  constexpr std::array<double, 8> kNumbers = {0, -1, 0.5, 1e18, 1e300, 3, -64, 1};
  const double number = kNumbers.at(random.Below(kNumbers.size()));
  switch (random.Below(7)) {
    case 0:
      formula.form = static_cast<SizeFormula::Form>(random.Below(4));
      return;
    case 1:
      formula.constant = random.Below(2) == 0 ? formula.constant + 1 : number;
      return;
    case 2:
      formula.divisor = number;
      return;
    case 3:
      return ChangeList(formula.factors, random);
    case 4:
      return ChangeList(formula.terms, random);
    case 5:
      formula.terms.push_back(SomeTerm(random));
      return;
    default:
      if (!formula.factors.empty()) OneOf(formula.factors, random) = number;
  }
}

void ChangeListed(ListedSizes& listed, Random& random) {
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
      return ChangeList(form.most, random);
    default:
      return ChangeExtents(form.output_extents, random);
  }
}

void ChangeCode(SizedCode& code, Random& random) {
  const uint64_t choice = random.Below(4);
  if (choice == 0) return ChangeFlag(code.key.open, random);
  if (choice == 1) return ChangeList(code.least, random);
  Sizes& sizes = choice == 2 ? code.key.sizes : code.least;
  if (sizes.empty()) return;
  int64_t& size = OneOf(sizes, random);
  size = Neighbour(size, random);
}

}  // namespace

void ChangeSizes(bundle::StoredSizes& sizes, Random& random) {
  const uint64_t choice = random.Below(10);
  const std::vector<SizeFormula*> formulas = FormulasOf(sizes);
  if (choice < 3 && !formulas.empty())
    return ChangeFormula(*formulas[random.Below(formulas.size())], random);
  if (choice < 6) return ChangeForm(sizes.form, random);
  if (sizes.plans.empty()) return;
  if (choice == 6) return ChangeList(sizes.plans, random);
  bundle::StoredSizedPlan& one = OneOf(sizes.plans, random);
  if (choice == 7) return ChangeCode(one.code, random);
  ChangePlan(one.plan, random);
}

}  // namespace tunec::testing
