// Elements for leaves of random graphs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/graph.h"
#include "ir/array.h"
#include "support/random.h"

namespace tunec::fuzz {

/// The kind of elements. kOrdinary: mostly numbers of few bits, on which float arithmetic is exact,
/// so that comparisons and roundings have one right answer. kSpecial: includes NaN, infinities,
/// signed zeros and the limits of the type.
enum class Values : uint8_t { kOrdinary, kSpecial };

Array RandomElements(DataType type, std::vector<int64_t> shape, Values values, Random& random);
/// Returns integers in [low, high], as far as the type has them.
Array RandomIntegers(DataType type, std::vector<int64_t> shape, int64_t low, int64_t high,
                     Random& random);

/// Calls `visit` for the indices of an array and their row-major numbers, in row-major order.
void ForEachPosition(const std::vector<int64_t>& shape,
                     const std::function<void(const std::vector<int64_t>&, int64_t)>& visit);

/// Returns one array per graph input. Elements depend on the seed and on the input's name, type,
/// shape and use. Inputs that are indices of a node are in range.
std::vector<Array> RandomInputs(const Graph& graph, Values values, uint64_t seed);

}  // namespace tunec::fuzz
