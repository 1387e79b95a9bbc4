// Parser of TensorProto. Only graph/onnx uses this file.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graph/onnx/file/mapped_file.h"
#include "graph/onnx/file/wire_format.h"
#include "ir/array.h"
#include "ir/data_type.h"
#include "support/error.h"
#include "support/file.h"

namespace tunec::onnx_import {

/// The supported part of TensorProto.DataType, and strings, which are not supported.
enum OnnxType : int64_t {
  kFloat = 1,
  kUint8 = 2,
  kInt8 = 3,
  kUint16 = 4,
  kInt16 = 5,
  kInt32 = 6,
  kInt64 = 7,
  kString = 8,
  kBool = 9,
  kFloat16 = 10,
  kDouble = 11,
  kUint32 = 12,
  kUint64 = 13,
  kBfloat16 = 16,
};

/// Returns the type for ONNX's number. Fails with kUnsupported for all other numbers, such as those
/// of strings, complex numbers and 8-bit floats.
Result<DataType> DataTypeOf(int64_t onnx_type);

/// The files of a model's external tensors. Each location is mapped once.
class ExternalFiles {
 public:
  explicit ExternalFiles(std::optional<DataFolders> folders) : folders_(std::move(folders)) {}
  Result<std::shared_ptr<const MappedFile>> Open(const std::string& location);
  /// Returns the stamps of the opened files, taken before opening.
  const std::vector<FileStamp>& Stamps() const { return stamps_; }

 private:
  std::optional<DataFolders> folders_;
  std::vector<FileStamp> stamps_;
  std::map<std::string, std::shared_ptr<const MappedFile>> files_;
};

/// A parsed TensorProto. `raw_data` refers to the parsed bytes, which must outlive it.
struct OnnxTensor {
  std::string name;
  std::vector<int64_t> dims;
  int64_t data_type = 0;
  bool in_segments = false;
  bool is_external = false;
  std::optional<Bytes> raw_data;
  // Elements in typed fields: the bits of floats, the values of integers and booleans.
  std::vector<uint64_t> float_data, double_data, int32_data, int64_data, uint64_data;
  std::vector<std::pair<std::string, std::string>> external_data;  // key, value
};

/// Parses a tensor. Returns nothing if the bytes are malformed.
std::optional<OnnxTensor> ReadTensor(const Pieces& pieces);

/// Returns the tensor's elements. Aligned external data is not copied. Errors contain the tensor's
/// name: kParse (also if the amount of data does not match the shape), kUnsupported, and those of
/// MappedFile::OpenConfined.
Result<Array> DecodeTensor(const OnnxTensor& tensor, ExternalFiles& files);

}  // namespace tunec::onnx_import
