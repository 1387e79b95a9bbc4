// Functions that draw random elements for inputs and constants of random graphs.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "graph/graph.h"
#include "ir/array.h"
#include "support/random.h"

namespace tunec::fuzz {

/// The kind of elements. Ordinary elements are mostly numbers of few bits. Short float sums of such
/// numbers are exact, so comparisons of the sums have one correct result. Special elements include
/// NaN, infinities, signed zeros and extreme numbers.
enum class Values : uint8_t { kOrdinary, kSpecial };

Array RandomElements(DataType type, std::vector<int64_t> shape, Values values, Random& random);
/// Returns random integers from the part of [low, high] that the type can represent.
Array RandomIntegers(DataType type, std::vector<int64_t> shape, int64_t low, int64_t high,
                     Random& random);

/// Calls `visit` with the index and the row-major number of each element, in row-major order.
void ForEachPosition(const std::vector<int64_t>& shape,
                     const std::function<void(const std::vector<int64_t>&, int64_t)>& visit);

/// Returns one array per graph input. Elements depend on the seed and on the input's name, type,
/// shape and use. Inputs that are indices of a gather or scatter are in range.
std::vector<Array> RandomInputs(const Graph& graph, Values values, uint64_t seed);

}  // namespace tunec::fuzz
