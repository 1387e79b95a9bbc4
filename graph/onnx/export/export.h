// Export of a graph as an ONNX model for other runtimes.
#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.h"
#include "support/error.h"

namespace tunec {

struct ExportOptions {
  /// Largest number of bytes of all weights inside the model. If the weights have more bytes, they
  /// are stored in a separate file, `PATH.data`. Protobuf cannot read messages of 2 GiB or more.
  int64_t most_bytes_inside = (int64_t{1} << 31) - (int64_t{1} << 26);
};

/// Writes `graph` as an ONNX model of opset 20. An operator may become several ONNX nodes. Layouts
/// are omitted, because they do not change values. Inputs and outputs keep their names and types.
/// Files are written under temporary names and renamed, the weights' file first. Requires: a
/// verified graph.
/// Errors: kUnsupported, with every node without an ONNX form, or with an output that has the name
/// of an input; kResourceLimit for 2 GiB or more inside the model; those of WriteFileAtomically.
Status ExportOnnx(const Graph& graph, const std::string& path, const ExportOptions& options = {});

/// Returns the model as bytes with all weights inside. Errors: kUnsupported as for ExportOnnx;
/// kResourceLimit if the model would have 2 GiB or more.
Result<std::string> ExportOnnxBytes(const Graph& graph);

}  // namespace tunec
