// From the plain model to ONNX's protobuf messages. Internal to graph/onnx.
#pragma once

#include <string>

#include "graph/onnx/file/model.h"

namespace tunec::onnx_export {

/// ONNX's number for an element type; the inverse of onnx_import::DataTypeOf.
int64_t OnnxTypeOf(DataType type);

struct ExportedModel {
  onnx_import::OnnxGraph graph;
  std::vector<onnx_import::OnnxValue> values;  // types of what nodes compute, for viewers
  int64_t opset = 20;
};

/// The bytes of the initializers that are worth a place in a file of their own.
int64_t WeightBytes(const ExportedModel& model);

/// The serialized ModelProto. With `data_file` (a file name) the weights' bytes are not in it but
/// are expected in that file, in the order and at the places that LayOutWeights gives.
Result<std::string> Serialize(const ExportedModel& model, const std::string& data_file = "");

/// A weight's place in the file beside the model.
struct PlacedWeight {
  const Array* array = nullptr;
  int64_t offset = 0;
};
/// Page-aligned, in the order of the initializers, so that a reader can map them.
std::vector<PlacedWeight> LayOutWeights(const ExportedModel& model);

}  // namespace tunec::onnx_export
