#include "graph/onnx/file/tensor_file.h"

#include <span>

#include "graph/onnx/file/parse_tensor.h"
#include "support/file.h"

namespace tunec {

Result<Array> ReadOnnxTensor(const std::string& path) {
  TUNEC_ASSIGN(const std::string bytes, ReadFile(path));
  const auto tensor = onnx_import::ReadTensor({std::as_bytes(std::span(bytes))});
  if (!tensor) return Fail(ErrorCode::kParse, "{} is not a serialized TensorProto", path);
  onnx_import::ExternalFiles no_files(std::nullopt);
  Result<Array> array = onnx_import::DecodeTensor(*tensor, no_files);
  if (!array) return Fail(array.error().code, "{}: {}", path, array.error().message);
  return array;
}

}  // namespace tunec
