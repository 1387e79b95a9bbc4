// Which input of a kernel may share its storage with an output, so that a memory plan can let
// the output take the input's place.
#pragma once

#include <optional>
#include <vector>

#include "ir/loop_nest.h"

namespace tunec {

struct InPlacePair {
  TensorId input;
  TensorId output;
  bool operator==(const InPlacePair&) const = default;
};

/// Pairs for which the nest computes the same whether or not the two are one storage: up to the
/// last phase that reads the input, each element of it is read only by stores that write the same
/// place of the output, and nothing else touches the output. Later phases find the output as it
/// would be elsewhere. A sufficient condition, by the indices as they stand. In the order of the
/// arguments. Code generators must not take the inputs named here for memory that never changes.
/// Requires: a store without reducer writes each place at most once, as in every nest made from a
/// Compute, whose statements run each instance once, unless the place is loaded.
std::vector<InPlacePair> FindInPlacePairs(const LoopNest& nest);

/// The pair, of those that FindInPlacePairs gave, of which this part of a phase copies elements
/// from the input to the output, and does nothing else: it can be left out where the two are one
/// storage.
std::optional<InPlacePair> CopiedPair(const NestNode& part, const std::vector<InPlacePair>& pairs);

}  // namespace tunec
