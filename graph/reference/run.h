// Shared parts of the reference operators, such as the operands and result types of a node,
// conversion between arrays and double or int64, and parallel loops.
//
// Floats are computed in double whatever their type and rounded once when stored. Most operators
// compute integers and bool in int64 (u64 by its bits) and wrap the results when storing them.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <vector>

#include "graph/graph.h"
#include "graph/reference.h"

namespace tunec::reference {

struct RunContext {
  const Node& node;
  std::span<const Array> inputs;
  std::span<const ValueType> output_types;
  Precision precision;

  bool HasOperand(size_t i) const;
  const Array& input(size_t i) const { return inputs[i]; }
  /// Returns a zeroed array for output 0, with the inferred shape and Stored of the inferred type.
  Array MakeOutput() const;
  /// Returns the type in which values of `type` are stored under the precision.
  DataType Stored(DataType type) const;
};

using Outputs = Result<std::vector<Array>>;
using RunOp = Outputs (*)(const RunContext& context);

// Load converts `count` elements of an array, beginning at element `start`. The stride is in
// elements, and may be 0. Store converts to `count` consecutive elements of an array, beginning at
// element `start`. In an array of integers, integers wrap and doubles saturate.
void Load(const Array& from, int64_t start, int64_t stride, int64_t count, double* to);
void Load(const Array& from, int64_t start, int64_t stride, int64_t count, int64_t* to);
void Store(const double* from, int64_t start, int64_t count, Array& to);
void Store(const int64_t* from, int64_t start, int64_t count, Array& to);

/// Returns all elements. T is double or int64_t.
template <class T>
std::vector<T> LoadAll(const Array& from) {
  std::vector<T> values(static_cast<size_t>(from.size()));
  Load(from, 0, 1, from.size(), values.data());
  return values;
}

/// Returns the array with floats converted to f64; other types are unchanged.
Array Widened(const Array& array);

/// Returns the row-major strides, in elements.
std::vector<int64_t> StridesOf(std::span<const int64_t> shape);
/// Returns the operand's stride along each dimension of a result with `rank` dimensions, 0 where
/// the operand has no such dimension or extent 1.
std::vector<int64_t> BroadcastStrides(const Array& operand, size_t rank);
/// Returns ElementCount of shape[begin, end).
int64_t Product(std::span<const int64_t> shape, size_t begin, size_t end);

/// Calls body(begin, end) for disjoint ranges that cover [0, count), and waits for the calls. Can
/// use several threads if count * work_per_item is large. The body must not throw, and its results
/// must not depend on the ranges.
void ParallelFor(int64_t count, int64_t work_per_item,
                 const std::function<void(int64_t begin, int64_t end)>& body);

/// A table of the input elements under a sliding window. For each output position and each tap of
/// the window, `input` has the flattened spatial index, or -1 if there is no input element. The
/// taps of a position are contiguous.
struct WindowTable {
  int64_t positions = 0;
  int64_t taps = 0;
  std::vector<int64_t> input;
  std::span<const int64_t> At(int64_t position) const {
    return std::span(input).subspan(static_cast<size_t>(position * taps),
                                    static_cast<size_t>(taps));
  }
};
WindowTable MakeWindowTable(const Node& node, std::span<const int64_t> from,
                            std::span<const int64_t> to, std::span<const int64_t> kernel);
/// Returns the table of a transposed convolution. An entry is the index of the input element that
/// contributes to the output position through the tap, or -1 if there is none.
WindowTable MakeTransposedTable(const Node& node, std::span<const int64_t> from,
                                std::span<const int64_t> to, std::span<const int64_t> kernel);

// Functions that run a node, one per operator family.
Outputs RunUnary(const RunContext& context);
Outputs RunCast(const RunContext& context);
Outputs RunBinary(const RunContext& context);
Outputs RunComparison(const RunContext& context);
Outputs RunWhere(const RunContext& context);
Outputs RunMatmul(const RunContext& context);
Outputs RunConv(const RunContext& context);
Outputs RunAttention(const RunContext& context);
Outputs RunPool(const RunContext& context);
Outputs RunReduction(const RunContext& context);
Outputs RunArg(const RunContext& context);
Outputs RunCumSum(const RunContext& context);
Outputs RunSoftmax(const RunContext& context);
Outputs RunBatchNorm(const RunContext& context);
Outputs RunInstanceNorm(const RunContext& context);  // group_norm too
Outputs RunAxisNorm(const RunContext& context);
Outputs RunLrn(const RunContext& context);
Outputs RunReshape(const RunContext& context);
Outputs RunMovement(const RunContext& context);  // transpose, expand, slice, pad, tile
Outputs RunConcat(const RunContext& context);
Outputs RunGather(const RunContext& context);
Outputs RunGatherElements(const RunContext& context);
Outputs RunScatter(const RunContext& context);
Outputs RunResize(const RunContext& context);
Outputs RunRange(const RunContext& context);
Outputs RunOneHot(const RunContext& context);
Outputs RunRotaryEmbedding(const RunContext& context);
Outputs RunAlloc(const RunContext& context);
Outputs RunFree(const RunContext& context);
inline constexpr RunOp RunNone = nullptr;

/// The entry of an operator in the column `reference` of op_list.h.
struct DefinitionRow {
  std::string_view name;  // for static_assert: function addresses are not constant with sanitizers
  RunOp run;              // null if the operator is not executed
};
inline constexpr DefinitionRow kDefinitions[] = {
#define TUNEC_DEFINITION(id, name, kind, pattern, operands, cost, repeats, rows, images, range, \
                         reference, ...)                                                        \
  {#reference, Run##reference},
    TUNEC_OPS(TUNEC_DEFINITION)
#undef TUNEC_DEFINITION
};
constexpr const DefinitionRow& DefinitionOf(Op op) { return kDefinitions[static_cast<size_t>(op)]; }

}  // namespace tunec::reference
