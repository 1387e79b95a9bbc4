#include "compiler/tuning/tasks.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "compiler/assemble/plan_arena.h"
#include "compiler/front_end.h"

namespace tunec {
namespace {

// Returns the values that are in callers' arrays: the model's inputs, outputs that kernels write
// directly, and views of both.
std::set<ValueId> FindCallerValues(const FrontReport& front) {
  const Graph& graph = front.graph;
  std::set<ValueId> caller_values(graph.inputs().begin(), graph.inputs().end());
  for (const auto& [value, output] : DirectOutputs(graph)) {
    if (static_cast<size_t>(output) < front.outputs) caller_values.insert(value);
  }
  for (const StorageView& view : front.fusion.views) {
    if (caller_values.contains(view.owner)) caller_values.insert(view.value);
  }
  return caller_values;
}

std::vector<std::string> CallersOf(const GroupReport& group,
                                   const std::set<ValueId>& caller_values) {
  std::vector<std::string> callers;
  for (const auto& [name, value] :
       ValueOfArguments(group.group, ArgumentNames(group.lowerings[0].compute))) {
    if (caller_values.contains(value)) callers.push_back(name);
  }
  return callers;
}

}  // namespace

ModelTasks CollectTasks(const FrontReport& front, const Target& target) {
  ModelTasks tasks;
  std::set<ValueId> caller_values;  // empty on a device: the callers' tensors are copied to it
  if (!target.device) caller_values = FindCallerValues(front);
  std::map<std::string, size_t> by_text;
  for (const GroupReport& group : front.groups) {
    const std::string text = Print(group.lowerings[0].compute);
    std::vector<std::string> callers = CallersOf(group, caller_values);
    const auto [found, inserted] = by_text.emplace(text, tasks.unique.size());
    if (inserted) {
      tasks.unique.push_back({.kind = KindOfGroup(front.graph, group.group),
                              .description = DescribeGroup(front.graph, group.group),
                              .lowerings = group.lowerings,
                              .weight = 1,
                              .callers = std::move(callers)});
    } else {
      TuningTask& task = tasks.unique[found->second];
      task.weight += 1;
      // The runtime may allocate an argument in one group of the task, for example in the middle of
      // the model. In the whole task the argument then counts as allocated by the runtime.
      std::erase_if(task.callers, [&](const std::string& name) {
        return std::ranges::find(callers, name) == callers.end();
      });
    }
    tasks.of_group.push_back(found->second);
  }
  return tasks;
}

}  // namespace tunec
