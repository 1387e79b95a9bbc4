// Import of Einsum. Only graph/onnx uses this file.
#pragma once

#include "graph/onnx/node_context.h"

namespace tunec::onnx_import {

/// Imports Einsum with one or more operands, combined from left to right. Fails with kUnsupported
/// if a term repeats a label (a diagonal), or the axes of a label have different sizes.
Result<Operands> Einsum(const NodeContext& node, Op op);

}  // namespace tunec::onnx_import
