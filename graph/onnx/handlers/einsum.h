// Einsum as transposes, reductions and batched matrix products. Internal to graph/onnx.
#pragma once

#include "graph/onnx/node_context.h"

namespace tunec::onnx_import {

/// Imports Einsum with any number of operands, two at a time from the left. A repeated label in one
/// operand (a diagonal) is kUnsupported.
Result<Operands> Einsum(const NodeContext& node, Op op);

}  // namespace tunec::onnx_import
