// Integers that are an affine function of positions, such as 0, 1, 2, ... or row * length + column.
// Only graph/onnx uses this file.
#pragma once

#include <optional>
#include <vector>

#include "graph/graph.h"
#include "graph/onnx/operand_shape.h"

namespace tunec::onnx_import {

/// The element at positions p0, p1, ... is first + steps[0] * p0 + steps[1] * p1 + ... The step of
/// an axis of extent 1 is 0.
struct Counting {
  Dim first;
  std::vector<Dim> steps;
};

/// An operand of a node: its shape and, if known, its function. `value` is set for a single known
/// number.
struct CountingOperand {
  const OperandShape* shape = nullptr;
  const Counting* counting = nullptr;
  std::optional<Dim> value;
};

/// Returns the function of a node's result, or nullopt if it is not known. `shape` is the result's
/// shape.
std::optional<Counting> CountingOf(Op op, const std::vector<CountingOperand>& operands,
                                   const Attributes& attributes, const OperandShape& shape);

/// Returns whether the elements are 0, 1, 2, ... in row-major order of the shape.
bool CountsInOrder(const Counting& counting, const OperandShape& shape);

/// Returns true if all elements are proved to be in 0..size-1.
bool AreBelow(const Counting& counting, const OperandShape& shape, const Dim& size);

}  // namespace tunec::onnx_import
