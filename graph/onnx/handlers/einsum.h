// Import of Einsum as transposes, sums and batched matrix products. Only graph/onnx uses this file.
#pragma once

#include "graph/onnx/node_context.h"

namespace tunec::onnx_import {

/// Imports Einsum with any number of operands, two at a time from the left. Fails with kUnsupported
/// if one operand repeats a label (a diagonal), or the axes of a label have different sizes.
Result<Operands> Einsum(const NodeContext& node, Op op);

}  // namespace tunec::onnx_import
