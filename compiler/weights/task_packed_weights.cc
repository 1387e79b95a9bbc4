#include "compiler/weights/task_packed_weights.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "compiler/assemble/plan_arena.h"
#include "compiler/front_end.h"
#include "compiler/weights/shared_packed_weights.h"
#include "schedule/packed_constant.h"
#include "schedule/schedule.h"
#include "support/hash.h"

namespace tunec {
namespace {

// Returns the hashes of the constants that a group reads, by the names of the lowerings' arguments.
std::map<std::string, std::string> ConstantsOf(const FrontReport& front, size_t group) {
  const GroupReport& report = front.groups[group];
  std::map<std::string, std::string> contents;
  for (const auto& [name, value] :
       ValueOfArguments(report.group, ArgumentNames(report.lowerings[0].compute))) {
    const auto found = front.contents.find(value);
    if (found != front.contents.end()) contents.emplace(name, found->second);
  }
  return contents;
}

// Returns the key of a weight packed in an order. The constant's name is replaced, because groups
// with different names for the constant share the weight.
std::string KeyOfPackedWeight(const std::string& content, const std::string& constant,
                              PackStep pack) {
  pack.tensor = "w" + pack.tensor.substr(constant.size());
  return content + " " + Print(Schedule{.lowering = "any", .compute_steps = {std::move(pack)}});
}

// A function object for an IsPacked. It looks up one task's weights in SharedPackedWeights.
class TaskPackedWeights {
 public:
  TaskPackedWeights(const std::vector<NamedCompute>& lowerings,
                    std::map<std::string, std::string> constants,
                    const SharedPackedWeights& packed_weights)
      : lowerings_(&lowerings),
        constants_(std::move(constants)),
        packed_weights_(&packed_weights) {}

  bool operator()(const PackStep& pack) const {
    for (const NamedCompute& lowering : *lowerings_) {
      const std::optional<std::string> constant = PackedConstant(lowering.compute, pack);
      if (!constant) continue;
      const auto content = constants_.find(*constant);
      return content != constants_.end() &&
             packed_weights_->IsInUse(KeyOfPackedWeight(content->second, *constant, pack));
    }
    return false;
  }

 private:
  const std::vector<NamedCompute>* lowerings_;
  std::map<std::string, std::string> constants_;
  const SharedPackedWeights* packed_weights_;
};

}  // namespace

std::map<ValueId, std::string> HashConstants(const FrontReport& front) {
  std::map<ValueId, std::string> contents;
  for (const GroupReport& group : front.groups) {
    for (const ValueId input : group.group.inputs) {
      const Array* const array = front.graph.ConstantOf(input);
      if (array == nullptr || contents.contains(input)) continue;
      contents[input] = StableHash({reinterpret_cast<const char*>(array->data()), array->bytes()});
    }
  }
  return contents;
}

std::vector<IsPacked> PackedWeightsInUse(const FrontReport& front, const ModelTasks& tasks,
                                         const SharedPackedWeights& packed_weights) {
  std::vector<IsPacked> in_use(tasks.unique.size());
  for (size_t g = 0; g < tasks.of_group.size(); ++g) {
    IsPacked& of_task = in_use[tasks.of_group[g]];
    if (of_task) continue;
    of_task = TaskPackedWeights(tasks.unique[tasks.of_group[g]].lowerings, ConstantsOf(front, g),
                                packed_weights);
  }
  return in_use;
}

void AddPackedWeights(const StagedModel& model, const std::shared_ptr<const void>& user,
                      SharedPackedWeights& packed_weights) {
  for (size_t g = 0; g < model.front.groups.size(); ++g) {
    const size_t task = model.tasks.of_group[g];
    const Schedule& schedule = model.kernels[task].schedule.schedule;
    const Compute* const compute =
        FindLowering(model.tasks.unique[task].lowerings, schedule.lowering);
    const std::map<std::string, std::string> constants = ConstantsOf(model.front, g);
    for (const ComputeStep& step : schedule.compute_steps) {
      const auto* const pack = std::get_if<PackStep>(&step);
      if (pack == nullptr) continue;
      const std::optional<std::string> constant = PackedConstant(*compute, *pack);
      if (!constant || !constants.contains(*constant)) continue;
      packed_weights.Add(KeyOfPackedWeight(constants.at(*constant), *constant, *pack), user);
    }
  }
}

}  // namespace tunec
