// A check that a run can be split along sizes that are declared splittable.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "graph/pad/pad_graph.h"
#include "tests/fuzz/pad/sized_model.h"

namespace tunec::fuzz {

/// Permutes some positions of the inputs along a splittable size, and gives the others new
/// elements. The same positions of the outputs must be permuted in the same way. Repeats this for
/// all padded splittable sizes that are axes of inputs. Returns the first difference or error, or
/// an empty string. `inputs` are the padded graph's at these sizes.
std::string SeparableProblem(const PaddedGraph& padded, const SizeValues& sizes,
                             const SizedModel& model, std::span<const Array> inputs, uint64_t seed);

}  // namespace tunec::fuzz
