// Conversion from the plain model to ONNX's protobuf messages. Only graph/onnx uses this file.
#pragma once

#include <string>

#include "graph/onnx/file/model.h"

namespace tunec::onnx_export {

/// Returns ONNX's number for an element type: the inverse of onnx_import::DataTypeOf.
int64_t OnnxTypeOf(DataType type);

struct ExportedModel {
  onnx_import::OnnxGraph graph;
  std::vector<onnx_import::OnnxValue> values;  // types of computed values, for viewers
  int64_t opset = 20;
};

/// Returns the number of bytes of all weights: the initializers of at least 1 KiB.
int64_t WeightBytes(const ExportedModel& model);

/// Returns the serialized ModelProto. With `data_file` (a file name) the weights' bytes are
/// expected in that file, in the order and at the offsets of LayOutWeights. Errors: kResourceLimit
/// for 2 GiB or more.
Result<std::string> Serialize(const ExportedModel& model, const std::string& data_file = "");

/// A weight and its offset in the file beside the model.
struct WeightOffset {
  const Array* array = nullptr;
  int64_t offset = 0;
};
/// Returns the weights with page-aligned offsets, in the order of the initializers. Alignment lets
/// a reader map the weights.
std::vector<WeightOffset> LayOutWeights(const ExportedModel& model);

}  // namespace tunec::onnx_export
