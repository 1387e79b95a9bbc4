// The table of padding rules by operator.
#include "graph/pad/padder.h"

namespace tunec::pad {

Rule RuleFor(Op op) {
  switch (op) {
    case Op::kBatchNorm:
      return PadBatchNorm;
    case Op::kReduceSum:
    case Op::kReduceMean:
    case Op::kReduceMax:
    case Op::kReduceMin:
    case Op::kReduceProd:
    case Op::kReduceL1:
    case Op::kReduceL2:
    case Op::kReduceSumSquare:
    case Op::kReduceLogSumExp:
      return PadReduction;
    case Op::kArgMax:
    case Op::kArgMin:
      return PadArg;
    case Op::kSoftmax:
    case Op::kLogSoftmax:
      return PadSoftmax;
    case Op::kCumSum:
      return PadCumSum;
    case Op::kLayerNorm:
    case Op::kRmsNorm:
      return PadAxisNorm;
    case Op::kInstanceNorm:
    case Op::kGroupNorm:
    case Op::kLrn:
      return PadChannelNorm;
    case Op::kMatmul:
      return PadMatmul;
    case Op::kAttention:
      return PadAttention;
    case Op::kConv:
      return PadConv;
    case Op::kConvTranspose:
      return PadConvTranspose;
    case Op::kMaxPool:
    case Op::kAveragePool:
      return PadPool;
    case Op::kTranspose:
      return PadTranspose;
    case Op::kReshape:
      return PadReshape;
    case Op::kExpand:
      return PadExpand;
    case Op::kSlice:
      return PadSlice;
    case Op::kConcat:
      return PadConcat;
    case Op::kPad:
      return PadPad;
    case Op::kTile:
      return PadTile;
    case Op::kGather:
      return PadGather;
    case Op::kGatherElements:
      return PadGatherElements;
    case Op::kScatter:
      return PadScatter;
    case Op::kOneHot:
      return PadOneHot;
    case Op::kRange:
      return PadRange;
    case Op::kRotaryEmbedding:
      return PadRotary;
    case Op::kResize:
      return PadResize;
    default:
      return PatternOf(op) == OpPattern::kElementwise ? PadElementwise : nullptr;
  }
}

}  // namespace tunec::pad
