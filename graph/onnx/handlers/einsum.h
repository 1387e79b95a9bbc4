// Einsum as transposes, reductions and batched matrix products. Internal to graph/onnx.
#pragma once

#include "graph/onnx/node_context.h"

namespace tunec::onnx_import {

/// Any number of operands, from the left two at a time; a label twice in one operand (a
/// diagonal) is kUnsupported.
Result<Operands> Einsum(const NodeContext& node, Op op);

}  // namespace tunec::onnx_import
