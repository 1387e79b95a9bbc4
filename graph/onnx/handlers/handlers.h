// The table of operators: the name, the first supported opset, and the function that translates a
// node. Only graph/onnx uses this file.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "graph/onnx/node_context.h"

namespace tunec::onnx_import {

struct Handler {
  std::string_view op_type;
  int64_t since;  // first supported opset; `translate` also handles later opsets
  /// Returns outputs of the operator, in order. The importer ignores those that the node omits.
  /// Fails with kUnsupported for an unsupported node, and with other codes for an invalid node.
  Result<Operands> (*translate)(const NodeContext& node, Op op);
  Op op = Op::kIdentity;  // argument of `translate`; some functions ignore it
  std::string_view domain = "";
};

/// Returns the handler, or null for an unknown operator.
const Handler* FindHandler(std::string_view domain, std::string_view op_type);

// The parts of the table, one per source file.
std::span<const Handler> ElementwiseHandlers();
std::span<const Handler> BroadcastHandlers();
std::span<const Handler> ReduceHandlers();
std::span<const Handler> MatmulHandlers();
std::span<const Handler> AttentionHandlers();
std::span<const Handler> ConvHandlers();
std::span<const Handler> PoolHandlers();
std::span<const Handler> NormHandlers();
std::span<const Handler> ShapeHandlers();
std::span<const Handler> SliceHandlers();
std::span<const Handler> IndexHandlers();
std::span<const Handler> ConstantHandlers();
std::span<const Handler> ResizeHandlers();
std::span<const Handler> QuantizeHandlers();
std::span<const Handler> LossHandlers();
std::span<const Handler> ScatterHandlers();
std::span<const Handler> SamplingHandlers();
std::span<const Handler> RecurrentHandlers();
std::span<const Handler> SignalHandlers();
std::span<const Handler> SequenceMixingHandlers();

}  // namespace tunec::onnx_import
