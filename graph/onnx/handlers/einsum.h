// Einsum as transposes, reductions and batched matrix products. Only graph/onnx uses this file.
#pragma once

#include "graph/onnx/node_context.h"

namespace tunec::onnx_import {

/// Imports Einsum with any number of operands, two at a time from the left. A repeated label in one
/// operand (a diagonal) is kUnsupported.
Result<Operands> Einsum(const NodeContext& node, Op op);

}  // namespace tunec::onnx_import
