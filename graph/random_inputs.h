// Random inputs for running a graph without given inputs.
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
  kWide,       // both signs, magnitudes from 2^-20 to 2^20 (f16: 2^-8 to 2^8)
  kTies,       // multiples of 1/2 from -1 to 1, zeros of both signs among them
  kDenormal,   // both signs, magnitudes below the type's smallest normal number, but not 0
  kInfinity,   // kUniform, but one element of each input is an infinity
  kNan,        // kUniform, but one element of each input is a NaN
};
/// Returns all kinds, kUniform first.
std::span<const InputKind> AllInputKinds();
/// Returns a phrase for messages, such as "a large mean".
std::string_view Name(InputKind kind);

/// Makes seeded arrays for `graph`, one per input. `kind` is the distribution of floats; booleans
/// are true or false with equal probability. Integer indices of a gather, scatter or one_hot are at
/// least 0 and below the number of selectable positions. This holds also if the operator uses a
/// view or cast of the input. Other integers are 0 or 1. The values of an input depend on `seed`,
/// `kind`, and the input's name, type and use, but not on the values of other inputs. Requires
/// fixed shapes. Fails with kResourceLimit if memory is exhausted.
Result<std::vector<Array>> RandomInputs(const Graph& graph, uint64_t seed,
                                        InputKind kind = InputKind::kUniform);

}  // namespace tunec
