// Which packings of a task's weights other executables of the model have.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/model_stages.h"
#include "compiler/tasks.h"
#include "schedule/sketch.h"

namespace tunec {

/// The hashes of all constants that groups read. Reads all of them.
std::map<ValueId, std::string> ContentsOf(const FrontReport& front);

/// For each task, whether another executable has its weights in some order. A task of several
/// groups goes by the first one's. What is referred to must outlive them.
std::vector<IsPacked> PackingsInUse(const FrontReport& front, const Tasks& tasks,
                                    const SharedPackings& packings);

/// Tells others how the model's weights are packed, as long as `user` lives.
void AddPackings(const StagedModel& model, const std::shared_ptr<const void>& user,
                 SharedPackings& packings);

}  // namespace tunec
