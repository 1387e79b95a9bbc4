// A search for inputs of a kernel that may share their storage with an output. A memory plan can
// store such an output over its input.
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

/// Returns pairs for which the nest computes the same result with shared and with separate storage,
/// in the order of the arguments. The two tensors have the same number of stored elements, of the
/// same size, and share no storage in the nest. Up to the last phase that accesses the input, only
/// prefetches and certain stores may touch the two tensors. Such a store has no reducer, writes one
/// element of the output, and reads the input, only at the same offset. The offsets are compared as
/// expressions, so some possible pairs are not found. Code generators must not treat the inputs of
/// these pairs as constant memory. A store without reducer must write each offset at most once,
/// unless the offset is loaded.
std::vector<InPlacePair> FindInPlacePairs(const LoopNest& nest);

/// Returns the first of the pairs for which this part of a phase only copies elements from the
/// input to the output. Returns nothing if there is none. The part can be omitted if the two
/// tensors of the pair share one storage.
std::optional<InPlacePair> CopiedPair(const NestNode& part, const std::vector<InPlacePair>& pairs);

}  // namespace tunec
