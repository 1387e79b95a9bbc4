#include "compiler/assemble/plan_arena.h"

#include <algorithm>

#include "compiler/assemble/memory_plan.h"
#include "support/check.h"

namespace tunec {

int64_t StorageBytes(const Value& value) { return StorageBytes(value, value.type.type); }

int64_t StorageBytes(const Value& value, DataType stored) {
  const Tensor tensor{.type = stored, .shape = value.type.Shape(), .layout = value.layout};
  return StorageBytes(tensor);
}

std::map<ValueId, int32_t> DirectOutputs(const Graph& graph) {
  std::map<ValueId, int32_t> direct;
  for (size_t i = 0; i < graph.outputs().size(); ++i) {
    const ValueId output = graph.outputs()[i];
    const bool made = KindOf(graph.producer(output).op) != OpKind::kData;
    if (made && graph.value(output).layout.IsRowMajor())
      direct.emplace(output, static_cast<int32_t>(i));
  }
  return direct;
}

std::map<std::string, ValueId> ValueOfArguments(const FusionGroup& group,
                                                const std::vector<std::string>& argument_names) {
  std::vector<ValueId> values = group.inputs;
  values.insert(values.end(), group.outputs.begin(), group.outputs.end());
  TUNEC_CHECK(values.size() == argument_names.size(), "a group has {} values, {} arguments",
              values.size(), argument_names.size());
  std::map<std::string, ValueId> value_of;
  for (size_t i = 0; i < values.size(); ++i) value_of[argument_names[i]] = values[i];
  return value_of;
}

std::vector<std::pair<ValueId, ValueId>> InPlaceValues(
    const FusionGroup& group, const std::vector<std::string>& argument_names,
    const std::vector<std::pair<std::string, std::string>>& in_place) {
  const auto value_of = ValueOfArguments(group, argument_names);
  std::vector<std::pair<ValueId, ValueId>> pairs;
  for (const auto& [from, to] : in_place) {
    const auto input = value_of.find(from);
    const auto output = value_of.find(to);
    if (input == value_of.end() || output == value_of.end()) continue;
    pairs.emplace_back(input->second, output->second);
  }
  return pairs;
}

namespace {

// The lifetimes of the values in the arena. A lifetime begins at the first step that writes the
// value or a view of the value. The end is the last step that accesses either; for an output, the
// end is after all steps.
class Lifetimes {
 public:
  Lifetimes(const Graph& graph, std::span<const StorageView> views,
            std::span<const ArenaStep> steps)
      : graph_(graph), direct_(DirectOutputs(graph)) {
    for (const StorageView& view : views) owner_[view.value] = view.owner;
    for (size_t step = 0; step < steps.size(); ++step) AddStep(steps[step], static_cast<int>(step));
    // Outputs in the arena are copied to the caller's buffer, or checked, after the last kernel.
    for (const ValueId output : graph.outputs()) Extend(output, static_cast<int>(steps.size()));
    for (const ArenaStep& step : steps)
      for (const auto& [input, output] : step.in_place) AllowInPlace(*step.group, input, output);
  }

  const std::vector<PlannedValue>& planned() const { return planned_; }
  ValueId value(size_t i) const { return values_[i]; }

 private:
  void AddStep(const ArenaStep& step, int number) {
    for (const ValueId written : step.group->outputs) {
      const ValueId output = OwnerOf(written);
      Extend(output, number);
      if (direct_.contains(output) || index_.contains(output)) continue;
      index_[output] = values_.size();
      values_.push_back(output);
      // A value and its views are stored in the same type.
      const DataType stored = StoredTypeOf(graph_, step.group->stored, written);
      planned_.push_back({.bytes = StorageBytes(graph_.value(output), stored),
                          .first_use = number,
                          .last_use = number});
    }
    for (const ValueId input : step.group->inputs) Extend(input, number);
  }

  ValueId OwnerOf(ValueId value) const {
    const auto owner = owner_.find(value);
    return owner == owner_.end() ? value : owner->second;
  }

  void Extend(ValueId value, int step) {
    const auto found = index_.find(OwnerOf(value));
    if (found != index_.end()) planned_[found->second].last_use = step;
  }

  // Allows the kernel to reuse the input's storage for the output, if both are in the arena. Views
  // are excluded, since their offset is fixed, and so are inputs that are also read through a view.
  void AllowInPlace(const FusionGroup& group, ValueId input, ValueId output) {
    const auto shares = [&](ValueId value) { return OwnerOf(value) == input; };
    if (owner_.contains(input) || owner_.contains(output)) return;
    if (std::ranges::count_if(group.inputs, shares) != 1) return;
    const auto taken = index_.find(input);
    const auto taker = index_.find(output);
    if (taken == index_.end() || taker == index_.end()) return;
    planned_[taker->second].in_place_of.push_back(static_cast<int>(taken->second));
  }

  const Graph& graph_;
  const std::map<ValueId, int32_t> direct_;
  std::map<ValueId, ValueId> owner_;  // owner of each view
  std::map<ValueId, size_t> index_;
  std::vector<ValueId> values_;
  std::vector<PlannedValue> planned_;
};

}  // namespace

ArenaPlan PlanArena(const Graph& graph, std::span<const StorageView> views,
                    std::span<const ArenaStep> steps) {
  const Lifetimes lifetimes(graph, views, steps);
  const MemoryPlan memory = PlanMemory(lifetimes.planned());
  const Status sound = VerifyPlan(lifetimes.planned(), memory);
  TUNEC_CHECK(sound.has_value(), "the arena: {}", sound.error().message);
  ArenaPlan plan{.offset = {}, .bytes = memory.total_bytes};
  for (size_t i = 0; i < lifetimes.planned().size(); ++i)
    plan.offset[lifetimes.value(i)] = memory.offset[i];
  return plan;
}

}  // namespace tunec
