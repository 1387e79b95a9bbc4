// Evaluation of nodes whose operands are integers with named sizes. Only graph/onnx uses this file.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "graph/onnx/operand.h"
#include "support/error.h"

namespace tunec::onnx_import {

/// Runs the node on constants and returns its only output, or nullopt if the output has more than
/// `most_elements`. A null array is an omitted input. Errors: those of inference.
Result<std::optional<Array>> EvaluateNode(Op op, const std::vector<const Array*>& inputs,
                                          const Attributes& attributes, int64_t most_elements);

/// Integers, or booleans as 0 and 1, which may contain named sizes.
struct FoldedSizes {
  std::vector<Dim> elements;
  DataType type = DataType::kI64;
  std::vector<int64_t> shape;
};

/// Returns whether the constant and all factors of a size are at most `most`.
bool IsModest(const Dim& size, int64_t most);
/// Returns true if a size is proved to be at least 1 for named sizes of at least 1.
bool IsPositive(const Dim& size);

/// Returns the result of a node whose operands are small constants and sizes. Returns nullopt if an
/// operand is not, if no rule exists for the operator, or if the result is not decided for all
/// sizes. For example, `n == 1` is open. Errors: those of inference. Requires: no attribute
/// contains a named size.
Result<std::optional<FoldedSizes>> FoldSizes(Op op, const std::vector<Operand>& inputs,
                                             const Attributes& attributes);

}  // namespace tunec::onnx_import
