// Functions that infer types and shapes, with shared helpers. op_table.cc selects the function of
// each operator.
#pragma once

#include <string>
#include <vector>

#include "graph/ops/op_table.h"

namespace tunec {

/// Returns the result of broadcasting by numpy's rule. A named dimension and an integer other than
/// 1 give the integer. Two named dimensions are assumed to be equal.
Result<std::vector<Dim>> Broadcast(const InferenceInput& input, const std::vector<Dim>& a,
                                   const std::vector<Dim>& b);
/// Returns whether a shape broadcasts to `to`, which is the result.
bool BroadcastsTo(const InferenceInput& input, const std::vector<Dim>& from,
                  const std::vector<Dim>& to);

/// Returns an `axis` of -rank..rank-1 as 0..rank-1. Fails for other axes.
Result<int64_t> NormaliseAxis(int64_t axis, size_t rank, Op op);
/// Applies NormaliseAxis to the attribute `axis` or its default. Stores and returns the result.
Result<int64_t> CompleteAxis(const InferenceInput& input, size_t rank);
/// Makes the attribute `axes` sorted and non-negative and returns it. Absent or empty means all
/// axes. Fails if an axis occurs twice or is out of range.
Result<std::vector<int64_t>> CompleteAxes(const InferenceInput& input, size_t rank);

/// Returns whether a value can have the type: its dimensions are known, and its fixed dimensions
/// form a shape (IsShape).
bool IsPossible(const ValueType& type);

/// Fails unless all dimensions of the operand are integers.
Status RequireFixed(const InferenceInput& input, size_t operand);
Status RequireRank(const InferenceInput& input, size_t operand, size_t least, size_t most);
/// Fails unless the operand has operand 0's element type.
Status RequireSameType(const InferenceInput& input, size_t operand);
/// Fails unless the operand has operand 0's element type or a wider float type.
Status RequireSameOrWiderType(const InferenceInput& input, size_t operand);
/// Returns the element type that a string attribute names. Fails for other strings.
Result<DataType> TypeAttribute(const InferenceInput& input, std::string_view name);

Result<std::vector<ValueType>> InferInput(const InferenceInput& input);

// infer_elementwise.cc
Result<std::vector<ValueType>> InferUnary(const InferenceInput& input);
Result<std::vector<ValueType>> InferPredicate(const InferenceInput& input);  // results are bool
Result<std::vector<ValueType>> InferCast(const InferenceInput& input);
Result<std::vector<ValueType>> InferGelu(const InferenceInput& input);
Result<std::vector<ValueType>> InferBinary(const InferenceInput& input);
Result<std::vector<ValueType>> InferComparison(const InferenceInput& input);
Result<std::vector<ValueType>> InferPrelu(const InferenceInput& input);
Result<std::vector<ValueType>> InferWhere(const InferenceInput& input);

// infer_contraction.cc
Result<std::vector<ValueType>> InferMatmul(const InferenceInput& input);
Result<std::vector<ValueType>> InferConv(const InferenceInput& input);
Result<std::vector<ValueType>> InferConvTranspose(const InferenceInput& input);
Result<std::vector<ValueType>> InferPool(const InferenceInput& input);

// infer_attention.cc
Result<std::vector<ValueType>> InferAttention(const InferenceInput& input);

// infer_rotary.cc
Result<std::vector<ValueType>> InferRotaryEmbedding(const InferenceInput& input);

// infer_reduction.cc
Result<std::vector<ValueType>> InferReduction(const InferenceInput& input);
Result<std::vector<ValueType>> InferArg(const InferenceInput& input);
Result<std::vector<ValueType>> InferAlongAxis(const InferenceInput& input);  // cumsum, softmax
Result<std::vector<ValueType>> InferChannelNorm(const InferenceInput& input);
Result<std::vector<ValueType>> InferGroupNorm(const InferenceInput& input);
Result<std::vector<ValueType>> InferAxisNorm(const InferenceInput& input);
Result<std::vector<ValueType>> InferLrn(const InferenceInput& input);

// infer_movement.cc
Result<std::vector<ValueType>> InferTranspose(const InferenceInput& input);
Result<std::vector<ValueType>> InferReshape(const InferenceInput& input);
Result<std::vector<ValueType>> InferExpand(const InferenceInput& input);
Result<std::vector<ValueType>> InferSlice(const InferenceInput& input);
Result<std::vector<ValueType>> InferConcat(const InferenceInput& input);
Result<std::vector<ValueType>> InferPad(const InferenceInput& input);
Result<std::vector<ValueType>> InferTile(const InferenceInput& input);

// infer_indexing.cc
Result<std::vector<ValueType>> InferGather(const InferenceInput& input);
Result<std::vector<ValueType>> InferGatherElements(const InferenceInput& input);
Result<std::vector<ValueType>> InferScatter(const InferenceInput& input);
Result<std::vector<ValueType>> InferResize(const InferenceInput& input);
Result<std::vector<ValueType>> InferRange(const InferenceInput& input);
Result<std::vector<ValueType>> InferOneHot(const InferenceInput& input);

// infer_control.cc
Result<std::vector<ValueType>> InferIf(const InferenceInput& input);
Result<std::vector<ValueType>> InferWhile(const InferenceInput& input);
Result<std::vector<ValueType>> InferScan(const InferenceInput& input);
Result<std::vector<ValueType>> InferAlloc(const InferenceInput& input);
Result<std::vector<ValueType>> InferFree(const InferenceInput& input);

}  // namespace tunec
