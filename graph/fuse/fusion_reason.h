// The reasons for fusing two nodes or not. Each reason has one phrase for messages.
#pragma once

#include <cstdint>
#include <string_view>

namespace tunec {

// clang-format off
/// The list of reasons: a name and a phrase for each. With a reason of FUSED, one kernel computes
/// both nodes; of APART, no kernel does; of VIEW, the consumer is a view and needs no kernel.
#define TUNEC_FUSION_REASONS(FUSED, APART, VIEW)                                                   \
  FUSED(kElementwiseChain, "elementwise chain")                                                    \
  /* the contraction's loops compute the elementwise operators */                                  \
  FUSED(kEpilogue, "elementwise after a contraction")                                              \
  /* a transpose or reshape of the result of a kernel */                                           \
  FUSED(kRenamedOutput, "the store is moved to the renamed index")                                 \
  FUSED(kRowEpilogue, "elementwise after a reduction over the same rows")                          \
  FUSED(kPrologue, "cheap elementwise work before a reduction")                                    \
  /* the kernel computes the operand tile by tile */                                               \
  FUSED(kOperandPrologue, "computed while the contraction reads it")                               \
  /* a depthwise convolution, then a pointwise one */                                              \
  FUSED(kChain, "a contraction's operand, finished block by block")                                \
  FUSED(kSameRows, "reductions over the same rows")                                                \
  FUSED(kUpdates, "computed where a scatter writes it")                                            \
  FUSED(kIndexMap, "data movement becomes an index map")                                           \
  FUSED(kSiblings, "siblings that read one value")                                                 \
  FUSED(kRecomputed, "computed again in each kernel that reads it")                                \
  /* another edge joined the two groups */                                                         \
  FUSED(kSameGroup, "already in one kernel")                                                       \
  APART(kUnfusedMode, "every node is a separate kernel")                                           \
  /* operators of pattern kOpaque, such as control operators */                                    \
  APART(kOpaque, "the operator is never fused")                                                    \
  /* stored: a scatter's data, its result, and operands from groups with an anchor */              \
  APART(kWrittenOver, "a scatter writes over stored data")                                         \
  APART(kTwoContractions, "one contraction in a kernel")                                           \
  APART(kContractionOperand, "a contraction would compute its operand again and again")            \
  APART(kOperandOrder, "what the contraction sums lies apart in memory")                           \
  APART(kNotAffine, "the contraction's reads would not be affine")                                 \
  /* several nodes read the value, or it is an output of the graph */                              \
  APART(kOtherUsers, "the value has other users")                                                  \
  APART(kOtherShape, "the consumer iterates another shape")                                        \
  APART(kOtherRows, "the reductions are over different rows")                                      \
  APART(kCostsMore, "it costs more than it saves")                                                 \
  /* the group would have too many nodes or inputs */                                              \
  APART(kTooLarge, "the kernel would be too large")                                                \
  APART(kCycle, "the groups would wait for each other")                                            \
  /* the value's producer is a view node, which has no kernel */                                   \
  APART(kReadInPlace, "read in place, from storage that others fill")                              \
  VIEW(kConcatInPlace, "written into the concatenation's storage")                                 \
  VIEW(kViewed, "read directly from its storage")
// clang-format on

enum class FusionReason : uint8_t {
#define TUNEC_ENUMERATOR(name, phrase) name,
  TUNEC_FUSION_REASONS(TUNEC_ENUMERATOR, TUNEC_ENUMERATOR, TUNEC_ENUMERATOR)
#undef TUNEC_ENUMERATOR
};

/// Returns "fused: ...", "not fused: ..." or "no kernel: ...".
std::string_view Describe(FusionReason reason);
bool IsFused(FusionReason reason);

}  // namespace tunec
