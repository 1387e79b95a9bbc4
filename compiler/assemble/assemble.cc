#include "compiler/assemble/assemble.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "compiler/assemble/plan_arena.h"
#include "compiler/front_end.h"
#include "compiler/weights/shared_packed_weights.h"
#include "device/open_device.h"
#include "support/check.h"
#include "support/hash.h"
#include "support/trace.h"

namespace tunec {
namespace {

class Assembler {
 public:
  Assembler(const FrontReport& front, const std::vector<GroupKernel>& groups,
            const CompileOptions& options, ThreadPool& pool, CodeUse use)
      : front_(front),
        graph_(front.graph),
        groups_(groups),
        views_(front.fusion.views),
        options_(options),
        pool_(pool),
        use_(use) {
    for (const StorageView& view : views_) view_of_.emplace(view.value, &view);
  }

  Result<AssembledPlan> Run();

 private:
  Status OpenTarget();
  void AddInterface();
  void AssignStorage();
  Status AddStep(const GroupKernel& group);
  void AddOutputCopies();
  Status AddIndexCheck(const UnprovenIndices& unproven);
  bundle::ArgumentContract ContractOf(const GroupKernel& group, const std::string& argument,
                                      ValueId value);
  DataType TypeOf(ValueId value) const { return StoredTypeOf(graph_, front_.fusion.stored, value); }
  Result<ValueRef> PackedWeight(const CompiledPrepack& prepack, ValueId weight);
  Status LoadStep(Step& step, const KernelImage& image);
  Result<Kernel> LoadOnHost(const KernelImage& image);
  ValueRef RefOf(ValueId value);
  int32_t ConstantIndex(ValueId value);

  const FrontReport& front_;
  const Graph& graph_;
  const std::vector<GroupKernel>& groups_;
  const std::vector<StorageView>& views_;
  const CompileOptions& options_;
  ThreadPool& pool_;
  const CodeUse use_;
  std::unique_ptr<Device> host_;  // null: the device runs everything, or a device cannot be opened
  ExecutablePlan plan_;
  std::vector<StepCode> preprocessing_code_;
  std::vector<StepCode> step_code_;
  std::map<ValueId, const StorageView*> view_of_;
  std::map<ValueId, ValueRef> ref_of_;  // values that have their own storage
  std::map<ValueId, int32_t> constants_;
  std::map<std::pair<ValueId, std::string>, int32_t> packed_;  // by weight and packing code
  std::map<const KernelImage*, Kernel> kernels_;
  std::map<const KernelImage*, std::shared_ptr<const DeviceCode>> codes_;
};

// Opens the target's device, and the host if the host runs kernels or packs weights for the device.
// A device is not opened for stored code; the plan then has a rejection. The plan also has a
// rejection if opening the device or the host fails with kDevice.
Status Assembler::OpenTarget() {
  const bool packs = std::ranges::any_of(
      groups_, [](const GroupKernel& group) { return !group.code->prepacks.empty(); });
  const auto open = [&](const Target& target) {
    return OpenDevice(target, pool_, options_.perf_map, options_.device);
  };
  const auto open_all = [&]() -> Status {
    if (options_.target.device) {
      if (use_ == CodeUse::kStore) {
        plan_.rejection = MakeError(ErrorCode::kDevice, "the code for {} is not loaded",
                                    options_.target.device->name);
      } else {
        TUNEC_ASSIGN(plan_.device, open(options_.target));
      }
      if (!packs) return {};
    }
    TUNEC_ASSIGN(host_, open({.host = options_.target.host}));
    return {};
  };
  Status opened = open_all();
  if (opened || opened.error().code != ErrorCode::kDevice) return opened;
  plan_.device = nullptr;
  plan_.rejection = opened.error();
  return {};
}

void Assembler::AddInterface() {
  for (const ValueId input : graph_.inputs()) {
    const Value& value = graph_.value(input);
    ref_of_[input] = ValueRef::Input(static_cast<int32_t>(plan_.inputs.size()));
    plan_.inputs.push_back({value.name, value.type.type, value.type.Shape()});
  }
  for (size_t i = 0; i < front_.outputs; ++i) {
    const Value& value = graph_.value(graph_.outputs()[i]);
    plan_.outputs.push_back({graph_.output_names()[i], value.type.type, value.type.Shape()});
  }
}

// Assigns storage to each value that kernels write: the caller's buffer, or an offset in the arena.
// Direct outputs that are not outputs of the model are indices to be checked. They are at the end
// of the arena, where no later step overwrites them.
void Assembler::AssignStorage() {
  std::vector<ArenaStep> steps;
  for (const GroupKernel& group : groups_)
    steps.push_back(
        {.group = &group.group,
         .in_place = InPlaceValues(group.group, group.argument_names, group.code->in_place)});
  const ArenaPlan arena = PlanArena(graph_, views_, steps);
  for (const auto& [value, offset] : arena.offset) ref_of_[value] = ValueRef::Arena(offset);
  plan_.arena_bytes = arena.bytes;
  for (const auto& [value, output] : DirectOutputs(graph_)) {
    if (static_cast<size_t>(output) < front_.outputs) {
      ref_of_[value] = ValueRef::Output(output);
      continue;
    }
    constexpr int64_t kAlignment = 64;
    const int64_t offset = (plan_.arena_bytes + kAlignment - 1) / kAlignment * kAlignment;
    ref_of_[value] = ValueRef::Arena(offset);
    plan_.arena_bytes = offset + StorageBytes(graph_.value(value));
  }
}

int32_t Assembler::ConstantIndex(ValueId value) {
  const auto found = constants_.find(value);
  if (found != constants_.end()) return found->second;
  const Array* array = graph_.ConstantOf(value);
  TUNEC_CHECK(array != nullptr, "value {} is no constant", graph_.value(value).name);
  const auto index = static_cast<int32_t>(plan_.constants.size());
  // The pointer's owner keeps the array alive as long as the plan exists.
  const auto owner = std::make_shared<const Array>(*array);
  plan_.constants.push_back({.name = graph_.value(value).name,
                             .bytes = static_cast<int64_t>(array->bytes()),
                             .data = std::shared_ptr<const void>(owner, owner->data()),
                             .alignment = static_cast<int64_t>(SizeOf(array->type()))});
  if (const auto hash = front_.contents.find(value); hash != front_.contents.end())
    plan_.constants.back().content = hash->second;
  constants_[value] = index;
  return index;
}

ValueRef Assembler::RefOf(ValueId value) {
  if (const auto view = view_of_.find(value); view != view_of_.end()) {
    ValueRef ref = RefOf(view->second->owner);
    const auto size = static_cast<int64_t>(SizeOf(TypeOf(value)));
    ref.offset += view->second->offset * size;
    return ref;
  }
  const auto found = ref_of_.find(value);
  if (found != ref_of_.end()) return found->second;
  return ValueRef::Constant(ConstantIndex(value));
}

// Returns a kernel without functions, which the host never calls. It stands for device code, and
// for host code if the host is not open.
Kernel WithoutFunctions(const KernelImage& image) {
  Kernel kernel{.workspace_bytes = image.workspace_bytes, .scratch_bytes = image.scratch_bytes};
  for (const PhaseLaunch& phase : image.phases)
    kernel.phases.push_back({.tasks = phase.Blocks(), .waves = phase.waves});
  return kernel;
}

// Loads the kernel of a step, once for all steps that share its code. A step of the host calls the
// kernel's functions directly. If the target's device is not open, nothing is loaded.
Status Assembler::LoadStep(Step& step, const KernelImage& image) {
  if (!options_.target.device) {
    TUNEC_ASSIGN(step.kernel, LoadOnHost(image));
    return {};
  }
  step.kernel = WithoutFunctions(image);
  if (plan_.device == nullptr) return {};
  std::shared_ptr<const DeviceCode>& code = codes_[&image];
  if (code == nullptr) {
    TUNEC_ASSIGN(code, plan_.device->Load(image));
  }
  step.code = code;
  return {};
}

Result<Kernel> Assembler::LoadOnHost(const KernelImage& image) {
  const auto found = kernels_.find(&image);
  if (found != kernels_.end()) return found->second;
  if (host_ == nullptr) return kernels_[&image] = WithoutFunctions(image);
  TUNEC_ASSIGN(const auto code, host_->Load(image));
  const Kernel* const kernel = code->OnHost();
  TUNEC_CHECK(kernel != nullptr, "the host cannot call its own code");
  return kernels_[&image] = *kernel;
}

enum class Access : uint8_t { kRead, kWritten };

// Returns the contract of a packed tensor. Packed tensors are aligned to cache lines, and the code
// may rely on this.
bundle::ArgumentContract PackedContract(const CompiledPrepack& prepack, Access access) {
  return {.bytes = prepack.packed_bytes, .alignment = 64, .written = access == Access::kWritten};
}

Result<ValueRef> Assembler::PackedWeight(const CompiledPrepack& prepack, ValueId weight) {
  const auto key = std::pair(weight, prepack.image.bytes);
  if (const auto found = packed_.find(key); found != packed_.end()) {
    return ValueRef::Constant(found->second);
  }
  const int32_t source = ConstantIndex(weight);
  const auto index = static_cast<int32_t>(plan_.constants.size());
  plan_.constants.push_back(
      {.name = plan_.constants[source].name + ".packed", .bytes = prepack.packed_bytes});
  Step step{.name = plan_.constants[index].name};
  TUNEC_ASSIGN(step.kernel, LoadOnHost(prepack.image));
  step.arguments = {ValueRef::Constant(source), ValueRef::Constant(index)};
  if (options_.packed_weights != nullptr) step.identity = StableHash(Serialize(prepack.image));
  const int64_t element = plan_.constants[source].alignment;
  preprocessing_code_.push_back(
      {.image = &prepack.image,
       .arguments = {{.bytes = plan_.constants[source].bytes, .alignment = element},
                     PackedContract(prepack, Access::kWritten)}});
  plan_.preprocessing.push_back(std::move(step));
  packed_[key] = index;
  return ValueRef::Constant(index);
}

/// Returns the kernel's in-place pairs as positions of arguments.
std::vector<std::pair<int32_t, int32_t>> InPlaceArguments(const CompiledKernel& kernel) {
  const auto position_of = [&](const std::string& name) {
    const auto found = std::ranges::find(kernel.arguments, name);
    TUNEC_CHECK(found != kernel.arguments.end(), "{} is no argument of its kernel", name);
    return static_cast<int32_t>(found - kernel.arguments.begin());
  };
  std::vector<std::pair<int32_t, int32_t>> pairs;
  for (const auto& [input, output] : kernel.in_place)
    pairs.emplace_back(position_of(input), position_of(output));
  return pairs;
}

// Returns the range of an integer argument whose elements the code uses as indices without a check;
// none if the code relies on no range.
std::optional<bundle::TrustedRange> RangeOf(const GroupKernel& group, const std::string& argument,
                                            DataType type) {
  const auto range = group.ranges.find(argument);
  if (range == group.ranges.end()) return std::nullopt;
  return bundle::TrustedRange{.type = type, .least = range->second.lo, .most = range->second.hi};
}

// Returns the contract of an argument that is not packed. Code that accesses a view may access the
// owner's storage from the view's start on.
bundle::ArgumentContract Assembler::ContractOf(const GroupKernel& group,
                                               const std::string& argument, ValueId value) {
  ValueId owner = value;
  for (auto view = view_of_.find(owner); view != view_of_.end(); view = view_of_.find(owner))
    owner = view->second->owner;
  const int64_t before = RefOf(value).offset - RefOf(owner).offset;
  const DataType stored = TypeOf(value);
  return {.bytes = StorageBytes(graph_.value(owner), TypeOf(owner)) - before,
          .alignment = static_cast<int64_t>(SizeOf(stored)),
          .written = std::ranges::find(group.group.outputs, value) != group.group.outputs.end(),
          .range = RangeOf(group, argument, stored)};
}

Status Assembler::AddStep(const GroupKernel& group) {
  const std::map<std::string, ValueId> value_of =
      ValueOfArguments(group.group, group.argument_names);
  Step step{.name = group.name};
  StepCode code{.image = &group.code->image};
  TUNEC_RETURN_IF_ERROR(LoadStep(step, group.code->image));
  for (const std::string& argument : group.code->arguments) {
    const auto prepack =
        std::ranges::find(group.code->prepacks, argument, &CompiledPrepack::packed);
    if (prepack != group.code->prepacks.end()) {
      TUNEC_ASSIGN(const ValueRef packed, PackedWeight(*prepack, value_of.at(prepack->weight)));
      step.arguments.push_back(packed);
      code.arguments.push_back(PackedContract(*prepack, Access::kRead));
      code.arguments.back().range =
          RangeOf(group, prepack->weight, TypeOf(value_of.at(prepack->weight)));
      continue;
    }
    const auto value = value_of.find(argument);
    if (value == value_of.end()) {
      return Fail(ErrorCode::kInternal,
                  "kernel {} expects argument {}, which its group does not have", group.name,
                  argument);
    }
    step.arguments.push_back(RefOf(value->second));
    code.arguments.push_back(ContractOf(group, argument, value->second));
  }
  step.in_place = InPlaceArguments(*group.code);
  plan_.steps.push_back(std::move(step));
  step_code_.push_back(std::move(code));
  return {};
}

// Adds copy steps for outputs that no kernel writes directly, such as inputs, constants and
// repeated outputs.
void Assembler::AddOutputCopies() {
  for (size_t i = 0; i < front_.outputs; ++i) {
    const ValueId output = graph_.outputs()[i];
    const ValueRef target = ValueRef::Output(static_cast<int32_t>(i));
    const ValueRef source = RefOf(output);
    if (source == target) continue;
    plan_.steps.push_back(MakeCopyStep("copy " + graph_.output_names()[i], source, target,
                                       StorageBytes(graph_.value(output))));
    step_code_.emplace_back();
  }
}

Status Assembler::AddIndexCheck(const UnprovenIndices& unproven) {
  const bool given = unproven.port == UnprovenIndices::Port::kInput;
  const ValueId value = (given ? graph_.inputs() : graph_.outputs())[unproven.position];
  if (const Array* constant = graph_.ConstantOf(value)) {
    const Status within = CheckIndices(*constant, unproven.extent);
    if (within) return {};
    return Fail(ErrorCode::kInvalidArgument, "gather {}: {}", unproven.node,
                within.error().message);
  }
  const ValueType& type = graph_.value(value).type;
  plan_.index_checks.push_back({.node = unproven.node,
                                .extent = unproven.extent,
                                .indices = RefOf(value),
                                .type = type.type,
                                .count = ElementCount(type.Shape())});
  return {};
}

Result<AssembledPlan> Assembler::Run() {
  plan_.threads = options_.target.host.threads;
  if (options_.packed_weights != nullptr) plan_.shared = options_.packed_weights->constants();
  TUNEC_RETURN_IF_ERROR(OpenTarget());
  AddInterface();
  AssignStorage();
  for (const GroupKernel& group : groups_) TUNEC_RETURN_IF_ERROR(AddStep(group));
  AddOutputCopies();
  for (const UnprovenIndices& unproven : front_.unproven)
    TUNEC_RETURN_IF_ERROR(AddIndexCheck(unproven));
  return AssembledPlan{std::move(plan_), std::move(preprocessing_code_), std::move(step_code_)};
}

// Returns the ranges of the compute's arguments. Values between statements are internal to the
// kernel, so their ranges are left out.
std::map<std::string, Interval> RangesOf(const Compute& compute) {
  std::map<std::string, Interval> ranges;
  for (const Tensor& tensor : compute.tensors) {
    const bool own = tensor.role == TensorRole::kWorkspace || tensor.role == TensorRole::kLocal;
    if (tensor.range && !own) ranges.emplace(tensor.name, *tensor.range);
  }
  return ranges;
}

}  // namespace

std::vector<GroupKernel> KernelsOfGroups(const FrontReport& front, const ModelTasks& tasks,
                                         const std::vector<BuiltKernel>& kernels) {
  std::vector<GroupKernel> groups;
  for (size_t g = 0; g < front.groups.size(); ++g) {
    const GroupReport& group = front.groups[g];
    const Compute& compute = group.lowerings[0].compute;
    groups.push_back({.group = group.group,
                      .name = NameOfGroup(front.graph, group.group),
                      .argument_names = ArgumentNames(compute),
                      .ranges = RangesOf(compute),
                      .code = kernels[tasks.of_group[g]].code});
  }
  return groups;
}

Result<AssembledPlan> Assemble(const FrontReport& front, const std::vector<GroupKernel>& groups,
                               const CompileOptions& options, ThreadPool& pool, CodeUse use) {
  const TraceScope scope("assemble");
  return Assembler(front, groups, options, pool, use).Run();
}

}  // namespace tunec
