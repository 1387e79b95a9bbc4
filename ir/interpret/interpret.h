// The meaning of a Compute and of a LoopNest, slow and obvious: the reference for all other code.
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
/// Errors: Verify rejects the Compute; a missing or superfluous argument, or one of a wrong shape
/// or type; an index outside its tensor; a read of an unwritten element; an unwritten output
/// element; an integer division by zero.
Result<std::vector<Array>> Interpret(const Compute& compute, std::span<const Array> arguments,
                                     Precision precision);

/// Runs the phases, tasks and threads in order. Local storage starts unwritten. An asynchronous
/// copy takes place at its Wait; the destination is unwritten until then. Errors: those of the
/// other overload; a race of two tasks or threads (without a race, any other order gives the same
/// result); a copy without a Wait; before the Wait of a copy, a change of the source or an access
/// to the destination; kUnsupported for Roles.
Result<std::vector<Array>> Interpret(const LoopNest& nest, std::span<const Array> arguments,
                                     Precision precision);

}  // namespace tunec
