// Inputs to run a graph on where nobody gave any.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "ir/array.h"

namespace tunec {

/// The distribution of the floats of random inputs.
enum class InputKind : uint8_t {
  kUniform,    // [-1, 1)
  kLargeMean,  // [999, 1001)
  kWide,       // both signs, exponents from -20 to 20 (f16: -8 to 8)
  kTies,       // multiples of 1/2 from -1 to 1, zeros of both signs among them
  kDenormal,   // below the type's smallest normal number
  kInfinity,   // kUniform, but one element of each input is an infinity
  kNan,        // kUniform, but one element of each input is a NaN
};
/// All kinds, kUniform first.
std::span<const InputKind> AllInputKinds();
/// A phrase for messages: "a large mean".
std::string_view Name(InputKind kind);

/// Makes seeded inputs for `graph`, one per input: floats of the kind, booleans even. Integers are
/// below the smallest axis that the input, or a view or cast of it, indexes in a gather; else 0
/// or 1. An input's values depend on its name alone. Requires: fixed shapes. kResourceLimit without
/// memory.
Result<std::vector<Array>> RandomInputs(const Graph& graph, uint64_t seed,
                                        InputKind kind = InputKind::kUniform);

}  // namespace tunec
