#include "graph/onnx/tensor_file.h"

#include <google/protobuf/stubs/common.h>
#include <onnx/onnx_pb.h>

#include <limits>

#include "graph/onnx/parse_tensor.h"
#include "support/file.h"

namespace tunec {

Result<Array> ReadOnnxTensor(const std::string& path) {
  TUNEC_ASSIGN(const std::string bytes, ReadFile(path));
  onnx::TensorProto tensor;
  if (bytes.size() > std::numeric_limits<int>::max() || !tensor.ParseFromString(bytes))
    return Fail(ErrorCode::kParse, "{} is not a serialized TensorProto", path);
  onnx_import::ExternalFiles no_files(std::nullopt);
  Result<Array> array = onnx_import::DecodeTensor(tensor, no_files);
  if (!array) return Fail(array.error().code, "{}: {}", path, array.error().message);
  return array;
}

std::string ProtobufVersion() {
  return google::protobuf::internal::VersionString(GOOGLE_PROTOBUF_VERSION);
}

}  // namespace tunec
