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

/// Returns the pairs for which the nest computes the same result with shared and with separate
/// storage, in the order of the arguments. The two tensors have the same number of elements, of the
/// same size. Only the phases up to the last reader of the input matter. There a store may touch
/// the two tensors only if it writes one element of the output and reads the input only at the same
/// offset. Prefetches may also touch them. The offsets are compared as expressions, so some
/// possible pairs are not found. Code generators must not treat the inputs of these pairs as
/// constant memory. A store without reducer must write each offset at most once, unless the offset
/// is loaded. Every nest made from a Compute satisfies this, because each instance of a statement
/// runs once.
std::vector<InPlacePair> FindInPlacePairs(const LoopNest& nest);

/// Returns the first of the pairs for which this part of a phase only copies elements from the
/// input to the output. Returns nothing if there is none. The part can be omitted if the two
/// tensors of the pair share one storage.
std::optional<InPlacePair> CopiedPair(const NestNode& part, const std::vector<InPlacePair>& pairs);

}  // namespace tunec
