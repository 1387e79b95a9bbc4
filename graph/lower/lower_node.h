// The lowerings of operators to lazy values. A lowering may add statements to the context.
#pragma once

#include <string_view>

#include "graph/lower/context.h"

namespace tunec::lower {

/// Lowers a node with one output and returns the output's value. Error: kUnsupported for a node
/// that has no lowering.
Result<Lazy> LowerNode(LowerContext& context, const Node& node);

// Elementwise operators: a scalar expression over the operands' elements.
Result<Lazy> LowerElementwise(LowerContext& context, const Node& node);
Result<Lazy> LowerBatchNorm(LowerContext& context, const Node& node);

// Contractions. If there is something to sum, products and convolutions write a tensor "acc", and
// all contractions set the anchor.
Result<Lazy> LowerMatmul(LowerContext& context, const Node& node);
Result<Lazy> LowerConv(LowerContext& context, const Node& node);
Result<Lazy> LowerConvTranspose(LowerContext& context, const Node& node);
/// Returns `sums` plus the bias of the convolution, or `sums` if there is no bias.
Lazy AddBias(LowerContext& context, const Node& node, const Lazy& sums);
/// Returns whether the node is a convolution with the kFlat variant: kernel extents 1, strides 1,
/// no padding, 2 or 3 spatial axes, `group` 1.
bool HasFlatVariant(const Graph& graph, const Node& node);
/// Returns whether the node is a convolution with the variants kWinograd and kWinograd4: 3x3,
/// stride 1, no dilation, `group` 1, f32, a constant filter, a batch that is not empty, at least
/// 2x2 outputs, and at least 8 input and 8 output channels.
bool HasWinogradVariant(const Graph& graph, const Node& node);
/// Lowers the convolution by the Winograd variant that the context selects (winograd.cc).
Lazy LowerWinogradConv(LowerContext& context, const Node& node);

/// Lowers attention (attention.cc). kStreaming splits rows and columns of scores by the context's
/// sizes.
Result<Lazy> LowerAttention(LowerContext& context, const Node& node);
/// Returns the sizes under kStreaming that are worth trying, if the node is an attention; else
/// none.
std::vector<StreamingSizes> StreamingSizesOf(const Graph& graph, const Node& node);

// Reductions and normalisations.
Result<Lazy> LowerReduce(LowerContext& context, const Node& node);
Result<Lazy> LowerLogSumExp(LowerContext& context, const Node& node);
Result<Lazy> LowerArgReduce(LowerContext& context, const Node& node);
Result<Lazy> LowerCumSum(LowerContext& context, const Node& node);
Result<Lazy> LowerMaxPool(LowerContext& context, const Node& node);
Result<Lazy> LowerAveragePool(LowerContext& context, const Node& node);
Result<Lazy> LowerSoftmax(LowerContext& context, const Node& node);
Result<Lazy> LowerLayerNorm(LowerContext& context, const Node& node);
Result<Lazy> LowerRmsNorm(LowerContext& context, const Node& node);
Result<Lazy> LowerInstanceNorm(LowerContext& context, const Node& node);
Result<Lazy> LowerGroupNorm(LowerContext& context, const Node& node);
Result<Lazy> LowerLrn(LowerContext& context, const Node& node);

// Data movement and other operators with index maps, guards or selections.
Result<Lazy> LowerTranspose(LowerContext& context, const Node& node);
Result<Lazy> LowerReshape(LowerContext& context, const Node& node);
Result<Lazy> LowerExpand(LowerContext& context, const Node& node);
Result<Lazy> LowerSlice(LowerContext& context, const Node& node);
Result<Lazy> LowerConcat(LowerContext& context, const Node& node);
Result<Lazy> LowerTile(LowerContext& context, const Node& node);
Result<Lazy> LowerPad(LowerContext& context, const Node& node);
Result<Lazy> LowerGather(LowerContext& context, const Node& node);
Result<Lazy> LowerGatherElements(LowerContext& context, const Node& node);
/// Lowers a scatter to statements that copy the data to the result and then write the updates
/// (scatter.cc).
Result<Lazy> LowerScatter(LowerContext& context, const Node& node);
Result<Lazy> LowerOneHot(LowerContext& context, const Node& node);
Result<Lazy> LowerRange(LowerContext& context, const Node& node);
Result<Lazy> LowerResize(LowerContext& context, const Node& node);
Result<Lazy> LowerRotaryEmbedding(LowerContext& context, const Node& node);

/// A function that lowers a node: an entry of the column `lowering` of op_list.h.
using Lowerer = Result<Lazy> (*)(LowerContext& context, const Node& node);
struct LowererRow {
  std::string_view name;  // for static_assert: function addresses are not constant with sanitizers
  Lowerer lower;          // null: the operator has no statements
};
inline constexpr Lowerer LowerNone = nullptr;
inline constexpr LowererRow kLowerers[] = {
#define TUNEC_LOWERER(id, name, kind, pattern, operands, cost, repeats, rows, images, range, \
                      reference, lowering, ...)                                              \
  {#lowering, Lower##lowering},
    TUNEC_OPS(TUNEC_LOWERER)
#undef TUNEC_LOWERER
};
constexpr const LowererRow& LowererOf(Op op) { return kLowerers[static_cast<size_t>(op)]; }

}  // namespace tunec::lower
