// Decoding TensorProto. Internal to graph/onnx.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "graph/onnx/mapped_file.h"
#include "ir/array.h"
#include "ir/data_type.h"
#include "support/error.h"

namespace onnx {
class TensorProto;
}

namespace tunec::onnx_import {

/// ONNX's number for an element type; strings, complex and sub-byte types have no counterpart.
Result<DataType> DataTypeOf(int64_t onnx_type);

/// The files that a model's external tensors lie in, each mapped once.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::optional<std::string> folder) : folder_(std::move(folder)) {}
  Result<std::shared_ptr<const MappedFile>> Open(const std::string& location);

 private:
  std::optional<std::string> folder_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

/// The tensor's elements. `detached`: its raw_data where that was taken out of the message, else
/// empty. Bytes in the message are moved, not copied. Sizes are checked against the shape; errors
/// name the tensor.
Result<Array> DecodeTensor(onnx::TensorProto& tensor, ExternalFiles& files,
                           std::span<const std::byte> detached = {});

}  // namespace tunec::onnx_import
