// Which input of a kernel may share its storage with an output, so that a memory plan can let
// the output take the input's place.
#pragma once

#include <vector>

#include "ir/loop_nest.h"

namespace tunec {

struct InPlacePair {
  TensorId input;
  TensorId output;
  bool operator==(const InPlacePair&) const = default;
};

/// Pairs for which the nest computes the same whether or not the two are one storage: each element
/// of the input is read only by stores that write the same place of the output. A sufficient
/// condition, by the indices as they stand. In the order of the arguments. Code generators must
/// not take the inputs named here for memory that never changes.
/// Requires: a store without reducer writes each place at most once, as in every nest made from a
/// Compute, whose statements run each instance once.
std::vector<InPlacePair> FindInPlacePairs(const LoopNest& nest);

}  // namespace tunec
