// The operators. A Graph's operators are logical: shapes are static attributes (importers resolve
// shape arithmetic), layouts are no concern of theirs.
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

/// Whether each operator that `needs` a row of a table beside op_list.h has one, and only one.
template <class Row, size_t n, class Needs>
consteval bool HasEach(const Row (&rows)[n], Needs needs) {
  for (const Op op : kAllOps) {
    int found = 0;
    for (const Row& row : rows) found += row.op == op ? 1 : 0;
    if (found != (needs(op) ? 1 : 0)) return false;
  }
  return true;
}

/// The field's taxonomy of nodes.
enum class OpKind : uint8_t { kCompute, kData, kShape, kControl, kMemory };

/// How an operator's output elements depend on its inputs' elements.
enum class OpPattern : uint8_t {
  kElementwise,  // same index after broadcasting
  kInjective,    // each output element from one input element by an index map
  kReduction,    // an associative combination over some axes
  kContraction,  // sums of products: matmul, convolutions
  kComposite,    // several statements: softmax, layer_norm, ...
  kScatter,      // operand 0, with others' elements at places that an operand names
  kOpaque,       // never fused
};

/// The axes of operand 0 that an operator walks as a whole.
enum class RowAxes : uint8_t {
  kNone,
  kAxes,         // its attribute `axes`
  kAxis,         // its attribute `axis`
  kFromAxis,     // `axis` and those behind it
  kFromSpatial,  // those behind batch and channels
};

/// What an operator wants of the order in which images are stored.
enum class ImageUse : uint8_t {
  kAnyOrder,     // images are nothing special to it
  kSameOrder,    // the result is best stored as the operands are
  kRenamed,      // moves nothing itself
  kConvolution,  // sums over windows and channels
  kPool,         // windows of each channel by itself
  kNeighbours,   // channels beside each other
};

std::string_view Name(Op op);
OpKind KindOf(Op op);
OpPattern PatternOf(Op op);
RowAxes RowAxesOf(Op op);
ImageUse ImageUseOf(Op op);

std::optional<Op> ParseOp(std::string_view name);

}  // namespace tunec
