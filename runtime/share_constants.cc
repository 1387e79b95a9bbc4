#include "runtime/share_constants.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "support/hash.h"

namespace tunec {
namespace {

std::string ContentOf(const Constant& constant) {
  if (!constant.content.empty()) return constant.content;
  return StableHash(
      {static_cast<const char*>(constant.data.get()), static_cast<size_t>(constant.bytes)});
}

// Returns the constants that each preprocessing step makes: constants without data that no earlier
// step names.
std::vector<std::vector<int32_t>> MadeBySteps(const ExecutablePlan& plan) {
  std::vector<bool> named(plan.constants.size());
  std::vector<std::vector<int32_t>> made;
  for (const Step& step : plan.preprocessing) {
    made.emplace_back();
    for (const ValueRef& ref : step.arguments) {
      if (plan.constants[ref.index].data == nullptr && !named[ref.index])
        made.back().push_back(ref.index);
      named[ref.index] = true;
    }
  }
  return made;
}

// Returns the keys of non-empty constants that have data and that steps name. The keys of all other
// constants are empty.
std::vector<std::string> KeysOfData(const ExecutablePlan& plan) {
  const std::vector<bool> packed = NamedBySteps(plan.preprocessing, plan.constants.size());
  const std::vector<bool> used = NamedBySteps(plan.steps, plan.constants.size());
  std::vector<std::string> keys(plan.constants.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    const Constant& constant = plan.constants[i];
    if (constant.data == nullptr || constant.bytes == 0 || !(packed[i] || used[i])) continue;
    keys[i] = fmt::format("data {} {}", constant.bytes, ContentOf(constant));
  }
  return keys;
}

// Returns a text of everything on which the step's results depend; empty if that is not known.
std::string TextOf(const Step& step, const std::vector<int32_t>& made,
                   const std::vector<std::string>& keys) {
  if (step.identity.empty()) return {};
  std::string text = step.identity;
  for (const ValueRef& ref : step.arguments) {
    const auto own = std::ranges::find(made, ref.index);
    if (own != made.end()) {
      text += fmt::format("\nmade {} {}", own - made.begin(), ref.offset);
      continue;
    }
    if (keys[ref.index].empty()) return {};
    text += fmt::format("\nread {} {}", keys[ref.index], ref.offset);
  }
  return text;
}

bool IsAligned(const std::shared_ptr<const void>& data, int64_t alignment) {
  return reinterpret_cast<uintptr_t>(data.get()) % static_cast<uintptr_t>(alignment) == 0;
}

}  // namespace

std::vector<bool> NamedBySteps(const std::vector<Step>& steps, size_t constants) {
  std::vector<bool> named(constants);
  for (const Step& step : steps)
    for (const ValueRef& ref : step.arguments)
      if (ref.kind == ValueRef::Kind::kConstant) named[ref.index] = true;
  return named;
}

std::vector<std::string> KeysOfConstants(const ExecutablePlan& plan) {
  std::vector<std::string> keys = KeysOfData(plan);
  const std::vector<std::vector<int32_t>> made = MadeBySteps(plan);
  // A step without an identity may change any of its results, so such a result gets no key.
  std::vector<bool> uncertain(plan.constants.size());
  for (const Step& step : plan.preprocessing)
    for (const ValueRef& ref : step.arguments)
      if (step.identity.empty()) uncertain[ref.index] = true;
  for (size_t s = 0; s < plan.preprocessing.size(); ++s) {
    const std::string text = TextOf(plan.preprocessing[s], made[s], keys);
    for (size_t i = 0; i < made[s].size() && !text.empty(); ++i) {
      const Constant& constant = plan.constants[made[s][i]];
      if (uncertain[made[s][i]] || constant.bytes == 0) continue;
      keys[made[s][i]] = fmt::format("made {} {} {}", i, constant.bytes, StableHash(text));
    }
  }
  return keys;
}

void ReuseSharedConstants(const SharedConstants& shared, const std::vector<std::string>& keys,
                          ExecutablePlan& plan) {
  const std::vector<std::vector<int32_t>> made = MadeBySteps(plan);
  std::vector<bool> needed = NamedBySteps(plan.steps, plan.constants.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    Constant& constant = plan.constants[i];
    if (keys[i].empty()) continue;
    std::shared_ptr<const void> found = shared.Find(keys[i]);
    if (found != nullptr && IsAligned(found, constant.alignment)) constant.data = std::move(found);
  }
  std::vector<bool> runs(plan.preprocessing.size());
  for (size_t s = runs.size(); s-- > 0;) {
    const Step& step = plan.preprocessing[s];
    runs[s] = step.identity.empty();
    for (const int32_t constant : made[s])
      if (needed[constant] && plan.constants[constant].data == nullptr) runs[s] = true;
    if (!runs[s]) continue;
    // The step must write new memory, because other executables may be reading the shared data.
    for (const int32_t constant : made[s]) plan.constants[constant].data = nullptr;
    for (const ValueRef& ref : step.arguments) needed[ref.index] = true;
  }
  std::vector<Step> remaining;
  for (size_t s = 0; s < runs.size(); ++s)
    if (runs[s]) remaining.push_back(std::move(plan.preprocessing[s]));
  plan.preprocessing = std::move(remaining);
}

void AddSharedConstants(const std::vector<std::string>& keys, const ExecutablePlan& plan,
                        SharedConstants& shared) {
  for (size_t i = 0; i < keys.size(); ++i) {
    const Constant& constant = plan.constants[i];
    if (keys[i].empty() || constant.data == nullptr) continue;
    if (shared.Find(keys[i]) != constant.data) shared.Add(keys[i], constant.data, constant.bytes);
  }
}

}  // namespace tunec
