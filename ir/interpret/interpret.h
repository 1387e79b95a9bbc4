// The meaning of a Compute and of a LoopNest, slow and obvious: the judge of everything else.
#pragma once

#include <span>
#include <vector>

#include "ir/array.h"
#include "ir/compute.h"
#include "ir/expr/evaluate_expr.h"
#include "ir/loop_nest.h"

namespace tunec {

/// Runs the statements in original order. `arguments` holds one array for each tensor of role
/// input, weight (in tensor order), logical row-major, whatever the layout. Returns one array
/// per output tensor, logical row-major; under kFloat64 float outputs are of type f64.
/// Errors: a missing argument, a wrong shape or type, an index outside its tensor.
Result<std::vector<Array>> Interpret(const Compute& compute, std::span<const Array> arguments,
                                     Precision precision);

/// Runs the phases, tasks and threads in order. Local storage starts unwritten; an asynchronous
/// copy takes place at its Wait, its destination unwritten until then. Errors: as above; a read of
/// what nothing wrote; a race of two tasks or threads, so that any other order gives the same; a
/// copy whose source or destination is touched before its Wait, or that has none.
Result<std::vector<Array>> Interpret(const LoopNest& nest, std::span<const Array> arguments,
                                     Precision precision);

}  // namespace tunec
