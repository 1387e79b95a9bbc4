#include "compiler/tasks.h"

#include <map>

#include "compiler/front_end.h"

namespace tunec {

Tasks CollectTasks(const FrontReport& front) {
  Tasks tasks;
  std::map<std::string, size_t> by_text;
  for (const GroupReport& group : front.groups) {
    const std::string text = Print(group.lowerings[0].compute);
    const auto [found, inserted] = by_text.emplace(text, tasks.unique.size());
    if (inserted) {
      tasks.unique.push_back({.kind = KindOfGroup(front.graph, group.group),
                              .description = DescribeGroup(front.graph, group.group),
                              .lowerings = group.lowerings,
                              .weight = 1});
    } else {
      tasks.unique[found->second].weight += 1;
    }
    tasks.of_group.push_back(found->second);
  }
  return tasks;
}

}  // namespace tunec
