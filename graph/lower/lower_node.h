// How each operator becomes a lazy value; statements it needs go to the context.
#pragma once

#include <string_view>

#include "graph/lower/context.h"

namespace tunec::lower {

/// The value of the node's only output.
Result<Lazy> LowerNode(LowerContext& context, const Node& node);

// Elementwise operators: a scalar expression of the operands' elements.
Result<Lazy> LowerElementwise(LowerContext& context, const Node& node);
Result<Lazy> LowerBatchNorm(LowerContext& context, const Node& node);

// Contractions. Each writes the tensor "acc" and sets the anchor.
Result<Lazy> LowerMatmul(LowerContext& context, const Node& node);
Result<Lazy> LowerConv(LowerContext& context, const Node& node);
Result<Lazy> LowerConvTranspose(LowerContext& context, const Node& node);
/// A convolution's sums with its bias, where it has one.
Lazy AddBias(LowerContext& context, const Node& node, const Lazy& sums);
/// Whether the group's convolution has the kFlat variant: 1x1, stride 1, no padding, 2 or 3
/// spatial axes, one group.
bool HasFlatVariant(const Graph& graph, const Node& node);
/// Whether the group's convolution has the kWinograd variants: 3x3, stride 1, undilated, one group,
/// f32, a constant filter, and channels enough that transforming them can pay.
bool HasWinogradVariant(const Graph& graph, const Node& node);
/// The context's one of them (winograd.cc).
Lazy LowerWinogradConv(LowerContext& context, const Node& node);

/// Attention (attention.cc). Under kStreaming its rows and columns are cut as the context says.
Result<Lazy> LowerAttention(LowerContext& context, const Node& node);
/// The sizes that the group's attention is worth trying with under kStreaming.
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

// Data movement: index maps, guards and selections.
Result<Lazy> LowerTranspose(LowerContext& context, const Node& node);
Result<Lazy> LowerReshape(LowerContext& context, const Node& node);
Result<Lazy> LowerExpand(LowerContext& context, const Node& node);
Result<Lazy> LowerSlice(LowerContext& context, const Node& node);
Result<Lazy> LowerConcat(LowerContext& context, const Node& node);
Result<Lazy> LowerTile(LowerContext& context, const Node& node);
Result<Lazy> LowerPad(LowerContext& context, const Node& node);
Result<Lazy> LowerGather(LowerContext& context, const Node& node);
Result<Lazy> LowerGatherElements(LowerContext& context, const Node& node);
/// The result's own elements, then updates written over them (scatter.cc).
Result<Lazy> LowerScatter(LowerContext& context, const Node& node);
Result<Lazy> LowerOneHot(LowerContext& context, const Node& node);
Result<Lazy> LowerRange(LowerContext& context, const Node& node);
Result<Lazy> LowerResize(LowerContext& context, const Node& node);
Result<Lazy> LowerRotaryEmbedding(LowerContext& context, const Node& node);

/// The column `lowering` of op_list.h.
using Lowerer = Result<Lazy> (*)(LowerContext& context, const Node& node);
struct LowererRow {
  std::string_view name;  // for static_assert: GCC's sanitizers leave no address a constant
  Lowerer lower;          // null: it has no statements
};
inline constexpr Lowerer LowerNone = nullptr;
inline constexpr LowererRow kLowerers[] = {
#define TUNEC_LOWERER(id, name, kind, pattern, operands, cost, repeats, rows, images, range, \
                      reference, lowering)                                                   \
  {#lowering, Lower##lowering},
    TUNEC_OPS(TUNEC_LOWERER)
#undef TUNEC_LOWERER
};
constexpr const LowererRow& LowererOf(Op op) { return kLowerers[static_cast<size_t>(op)]; }

}  // namespace tunec::lower
