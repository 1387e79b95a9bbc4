// The interpreters of a Compute and of a LoopNest. They are slow and simple. Tests compare
// compiled code with their results.
#pragma once

#include <span>
#include <vector>

#include "ir/array.h"
#include "ir/compute.h"
#include "ir/expr/evaluate_expr.h"
#include "ir/loop_nest.h"

namespace tunec {

/// Runs the statements in original order. `arguments` holds one array for each tensor of role input
/// and weight, in tensor order. Arrays are logical row-major, independent of the layout. Returns
/// one array per output tensor, logical row-major; under kFloat64 float outputs have type f64.
/// Fails if Verify rejects the Compute, or if an argument is missing, superfluous, or of a wrong
/// shape or type. Also fails for an index outside its tensor or storage, a read of an unwritten
/// element, an unwritten output element, and an integer division by zero.
Result<std::vector<Array>> Interpret(const Compute& compute, std::span<const Array> arguments,
                                     Precision precision);

/// Runs the phases, tasks and threads in order. Local storage starts unwritten. An asynchronous
/// copy takes place at its Wait; the destination is unwritten until then. Fails like the other
/// overload, and for a race of two tasks or threads. Without a race, any other order gives the same
/// result. Also fails for a copy into local storage without a Wait, and for a Wait that would not
/// end. Fails if the source is changed or the destination is accessed before the Wait. Fails with
/// kUnsupported for Roles.
Result<std::vector<Array>> Interpret(const LoopNest& nest, std::span<const Array> arguments,
                                     Precision precision);

}  // namespace tunec
