// Functions that hash constants, and that record and look up how executables pack these constants.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/model_stages.h"
#include "compiler/tuning/tasks.h"
#include "schedule/sketch.h"

namespace tunec {

/// Returns the hashes of all constants that groups read. Reads all of these constants.
std::map<ValueId, std::string> HashConstants(const FrontReport& front);

/// Returns a function for each task. The function returns true if another executable has the weight
/// of a `pack` step in that step's storage order. A task of several groups uses the weights of its
/// first group. `tasks` and `packed_weights` must outlive the functions. Requires: `front.contents`
/// has the result of HashConstants.
std::vector<IsPacked> PackedWeightsInUse(const FrontReport& front, const ModelTasks& tasks,
                                         const SharedPackedWeights& packed_weights);

/// Records in `packed_weights` how the model's weights are packed. `user` is the executable that
/// has them. The records expire with it.
void AddPackedWeights(const StagedModel& model, const std::shared_ptr<const void>& user,
                      SharedPackedWeights& packed_weights);

}  // namespace tunec
