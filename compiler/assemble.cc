#include "compiler/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "jit/load.h"
#include "runtime/memory_plan.h"
#include "support/check.h"

namespace tunec {
namespace {

int64_t StorageBytes(const Value& value) {
  const Tensor tensor{.type = value.type.type, .shape = value.type.Shape(), .layout = value.layout};
  return StorageElements(tensor) * static_cast<int64_t>(SizeOf(value.type.type));
}

// What the names of a kernel's arguments stand for.
std::map<std::string, ValueId> ValueOfArguments(const GroupKernel& group) {
  std::map<std::string, ValueId> value_of;
  std::vector<ValueId> values = group.group.inputs;
  values.insert(values.end(), group.group.outputs.begin(), group.group.outputs.end());
  TUNEC_CHECK(values.size() == group.argument_names.size(), "group {} has {} values, {} arguments",
              group.name, values.size(), group.argument_names.size());
  for (size_t i = 0; i < values.size(); ++i) value_of[group.argument_names[i]] = values[i];
  return value_of;
}

class Assembler {
 public:
  Assembler(const Graph& graph, const std::vector<GroupKernel>& groups,
            const CompileOptions& options)
      : graph_(graph), groups_(groups), options_(options) {}

  Result<ExecutablePlan> Run();

 private:
  void AddInterface();
  void PlaceValues();
  void PlanArena();
  std::vector<ValueId> InPlaceInputs(const GroupKernel& group, ValueId output) const;
  Status AddStep(const GroupKernel& group);
  void AddOutputCopies();
  Result<ValueRef> PackedWeight(const PrepackCode& prepack, ValueId weight);
  Result<Kernel> Load(const ObjectCode& object);
  ValueRef RefOf(ValueId value);
  int32_t ConstantIndex(ValueId value);

  const Graph& graph_;
  const std::vector<GroupKernel>& groups_;
  const CompileOptions& options_;
  ExecutablePlan plan_;
  std::map<ValueId, ValueRef> place_;  // values that steps read or write
  std::map<ValueId, int32_t> constants_;
  std::map<std::pair<ValueId, std::string>, int32_t> packed_;  // weight and packing code
  std::map<const ObjectCode*, Kernel> kernels_;
};

void Assembler::AddInterface() {
  for (const ValueId input : graph_.inputs()) {
    const Value& value = graph_.value(input);
    place_[input] = ValueRef::Input(static_cast<int32_t>(plan_.inputs.size()));
    plan_.inputs.push_back({value.name, value.type.type, value.type.Shape()});
  }
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const Value& value = graph_.value(graph_.outputs()[i]);
    plan_.outputs.push_back({graph_.output_names()[i], value.type.type, value.type.Shape()});
  }
}

// Values that kernels write: straight into the caller's buffer where they are a row-major
// output, else into the arena.
void Assembler::PlaceValues() {
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const ValueId output = graph_.outputs()[i];
    const bool made = KindOf(graph_.producer(output).op) != OpKind::kData;
    if (made && graph_.value(output).layout.IsRowMajor()) {
      place_.emplace(output, ValueRef::Output(static_cast<int32_t>(i)));
    }
  }
  PlanArena();
}

// The inputs of a step whose storage one of its outputs may take over, as far as the kernel is
// concerned. An input that is passed twice would be read under its other name.
std::vector<ValueId> Assembler::InPlaceInputs(const GroupKernel& group, ValueId output) const {
  const auto value_of = ValueOfArguments(group);
  std::vector<ValueId> inputs;
  for (const auto& [from, to] : group.code->in_place) {
    const auto input = value_of.find(from);
    const auto written = value_of.find(to);
    if (input == value_of.end() || written == value_of.end()) continue;
    const bool once = std::ranges::count(group.group.inputs, input->second) == 1;
    if (once && written->second == output) inputs.push_back(input->second);
  }
  return inputs;
}

void Assembler::PlanArena() {
  std::map<ValueId, size_t> index;
  std::vector<ValueId> values;
  std::vector<PlannedValue> planned;
  for (size_t step = 0; step < groups_.size(); ++step) {
    for (const ValueId output : groups_[step].group.outputs) {
      if (place_.contains(output)) continue;
      index[output] = values.size();
      values.push_back(output);
      planned.push_back({.bytes = StorageBytes(graph_.value(output)),
                         .first_use = static_cast<int>(step),
                         .last_use = static_cast<int>(step)});
    }
    for (const ValueId input : groups_[step].group.inputs) {
      const auto found = index.find(input);
      if (found != index.end()) planned[found->second].last_use = static_cast<int>(step);
    }
  }
  // Copied to the caller's buffer after the last kernel.
  for (const ValueId output : graph_.outputs()) {
    const auto found = index.find(output);
    if (found != index.end()) planned[found->second].last_use = static_cast<int>(groups_.size());
  }
  for (const GroupKernel& group : groups_) {
    for (const ValueId output : group.group.outputs) {
      const auto taker = index.find(output);
      if (taker == index.end()) continue;
      for (const ValueId input : InPlaceInputs(group, output)) {
        const auto taken = index.find(input);
        if (taken == index.end()) continue;
        planned[taker->second].in_place_of.push_back(static_cast<int>(taken->second));
      }
    }
  }
  const MemoryPlan memory = PlanMemory(planned);
  for (size_t i = 0; i < values.size(); ++i) {
    place_[values[i]] = ValueRef::Arena(memory.offset[i]);
  }
  plan_.arena_bytes = memory.total_bytes;
}

int32_t Assembler::ConstantIndex(ValueId value) {
  const auto found = constants_.find(value);
  if (found != constants_.end()) return found->second;
  const Array* array = graph_.ConstantOf(value);
  TUNEC_CHECK(array != nullptr, "value {} is no constant", graph_.value(value).name);
  const auto index = static_cast<int32_t>(plan_.constants.size());
  // The plan keeps the array alive through the pointer's owner.
  const auto owner = std::make_shared<const Array>(*array);
  plan_.constants.push_back({.name = graph_.value(value).name,
                             .bytes = static_cast<int64_t>(array->bytes()),
                             .data = std::shared_ptr<const void>(owner, owner->data()),
                             .alignment = static_cast<int64_t>(SizeOf(array->type()))});
  constants_[value] = index;
  return index;
}

ValueRef Assembler::RefOf(ValueId value) {
  const auto found = place_.find(value);
  if (found != place_.end()) return found->second;
  return ValueRef::Constant(ConstantIndex(value));
}

// Steps that share code share one loaded kernel.
Result<Kernel> Assembler::Load(const ObjectCode& object) {
  const auto found = kernels_.find(&object);
  if (found != kernels_.end()) return found->second;
  TUNEC_ASSIGN(Kernel kernel, LoadKernel(object, options_.perf_map));
  return kernels_[&object] = std::move(kernel);
}

Result<ValueRef> Assembler::PackedWeight(const PrepackCode& prepack, ValueId weight) {
  const auto key = std::pair(weight, prepack.object.bytes);
  if (const auto found = packed_.find(key); found != packed_.end()) {
    return ValueRef::Constant(found->second);
  }
  const int32_t source = ConstantIndex(weight);
  const auto index = static_cast<int32_t>(plan_.constants.size());
  plan_.constants.push_back(
      {.name = plan_.constants[source].name + ".packed", .bytes = prepack.packed_bytes});
  Step step{.name = plan_.constants[index].name};
  TUNEC_ASSIGN(step.kernel, Load(prepack.object));
  step.arguments = {ValueRef::Constant(source), ValueRef::Constant(index)};
  plan_.prologue.push_back(std::move(step));
  packed_[key] = index;
  return ValueRef::Constant(index);
}

Status Assembler::AddStep(const GroupKernel& group) {
  const std::map<std::string, ValueId> value_of = ValueOfArguments(group);
  Step step{.name = group.name};
  TUNEC_ASSIGN(step.kernel, Load(group.code->object));
  for (const std::string& argument : group.code->arguments) {
    const auto prepack = std::ranges::find(group.code->prepacks, argument, &PrepackCode::packed);
    if (prepack != group.code->prepacks.end()) {
      TUNEC_ASSIGN(const ValueRef packed, PackedWeight(*prepack, value_of.at(prepack->weight)));
      step.arguments.push_back(packed);
      continue;
    }
    const auto value = value_of.find(argument);
    if (value == value_of.end()) {
      return Fail(ErrorCode::kInternal, "kernel {} wants an argument {} that its group has not",
                  group.name, argument);
    }
    step.arguments.push_back(RefOf(value->second));
  }
  plan_.steps.push_back(std::move(step));
  return {};
}

// Outputs that no kernel wrote into place: inputs, constants, repeated outputs.
void Assembler::AddOutputCopies() {
  for (size_t i = 0; i < graph_.outputs().size(); ++i) {
    const ValueId output = graph_.outputs()[i];
    const ValueRef target = ValueRef::Output(static_cast<int32_t>(i));
    const ValueRef source = RefOf(output);
    if (source == target) continue;
    plan_.steps.push_back(CopyStep("copy " + graph_.output_names()[i], source, target,
                                   StorageBytes(graph_.value(output))));
  }
}

Result<ExecutablePlan> Assembler::Run() {
  plan_.threads = options_.target.threads;
  AddInterface();
  PlaceValues();
  for (const GroupKernel& group : groups_) TUNEC_RETURN_IF_ERROR(AddStep(group));
  AddOutputCopies();
  return std::move(plan_);
}

}  // namespace

Result<ExecutablePlan> Assemble(const Graph& graph, const std::vector<GroupKernel>& groups,
                                const CompileOptions& options) {
  return Assembler(graph, groups, options).Run();
}

}  // namespace tunec
