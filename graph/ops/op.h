// The operators of a Graph and properties of them. Operators take shapes as attributes, not as
// operands, because importers resolve shape arithmetic. Layouts do not change the meaning of an
// operator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "graph/ops/op_list.h"

namespace tunec {

enum class Op : uint8_t {
#define TUNEC_ENUMERATOR(id, ...) id,
  TUNEC_OPS(TUNEC_ENUMERATOR)
#undef TUNEC_ENUMERATOR
};

inline constexpr Op kAllOps[] = {
#define TUNEC_ID(id, ...) Op::id,
    TUNEC_OPS(TUNEC_ID)
#undef TUNEC_ID
};

/// Returns whether the operator is an input or a constant of the graph.
constexpr bool IsLeaf(Op op) { return op == Op::kInput || op == Op::kConstant; }

/// Returns whether a table besides op_list.h has exactly one row for each operator that `needs`
/// one, and no row for any other operator.
template <class Row, size_t n, class Needs>
consteval bool HasEach(const Row (&rows)[n], Needs needs) {
  for (const Op op : kAllOps) {
    int found = 0;
    for (const Row& row : rows) found += row.op == op ? 1 : 0;
    if (found != (needs(op) ? 1 : 0)) return false;
  }
  return true;
}

/// The class of an operator. kData: inputs, constants and ranges. kShape: movement of elements.
/// kControl: if, while and scan. kMemory: copy, alloc, free and to_device.
enum class OpKind : uint8_t { kCompute, kData, kShape, kControl, kMemory };

/// The dependence of an operator's output elements on its inputs' elements.
enum class OpPattern : uint8_t {
  kElementwise,  // same index after broadcasting
  kInjective,    // each output element from one or a few input elements at mapped indices
  kReduction,    // an associative combination over some axes or windows
  kContraction,  // sums of products: matmul, convolutions
  kComposite,    // several statements: softmax, layer_norm, ...
  kScatter,      // operand 0, with elements of another operand at positions given by a third
  kOpaque,       // never fused
};

/// The axes of operand 0 that an operator's rows consist of (RowsOf in fuse/fuse_rules.h).
enum class RowAxes : uint8_t {
  kNone,
  kAxes,         // its attribute `axes`
  kAxis,         // its attribute `axis`
  kFromAxis,     // `axis` and all later axes
  kFromSpatial,  // all axes after batch and channels
};

/// The way in which an operator accesses images. The layout pass (passes/choose_layouts.h) chooses
/// storage orders of images by it.
enum class ImageUse : uint8_t {
  kAnyOrder,     // no preference
  kSameOrder,    // the result is best stored as the operands are
  kRenamed,      // only renames indices
  kConvolution,  // sums over windows and channels
  kPool,         // windows of each channel separately
  kNeighbours,   // several consecutive channels for each element
};

std::string_view Name(Op op);
OpKind KindOf(Op op);
OpPattern PatternOf(Op op);
RowAxes RowAxesOf(Op op);
ImageUse ImageUseOf(Op op);

std::optional<Op> ParseOp(std::string_view name);

}  // namespace tunec
