// Writing a graph as an ONNX model that other runtimes load.
#pragma once

#include <cstdint>
#include <string>

#include "graph/graph.h"
#include "support/error.h"

namespace tunec {

struct ExportOptions {
  /// Weights whose bytes come to more than this in all lie in a file of their own, `PATH.data`.
  /// Protobuf reads no message of 2 GiB.
  int64_t most_bytes_inside = (int64_t{1} << 31) - (int64_t{1} << 26);
};

/// Writes `graph` as an ONNX model of opset 20. Operators that ONNX has not, or not for the
/// operand's type, are written as several nodes; layouts are left out, for they change no values.
/// Inputs and outputs keep their names and types. Files are written aside and renamed, the weights'
/// first. Requires: a verified graph. Errors: kUnsupported lists every node that has no ONNX form;
/// kIo.
Status ExportOnnx(const Graph& graph, const std::string& path, const ExportOptions& options = {});

/// The model as bytes with all weights inside; kResourceLimit when they are too many.
Result<std::string> ExportOnnxBytes(const Graph& graph);

}  // namespace tunec
