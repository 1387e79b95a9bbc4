// Parser of AttributeProto. Only graph/onnx uses this file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/onnx/file/wire_format.h"

namespace tunec::onnx_import {

/// The supported part of AttributeProto.AttributeType, and kUndefined, which is not supported.
enum class AttributeKind : uint64_t {
  kUndefined = 0,
  kFloat = 1,
  kInt = 2,
  kString = 3,
  kTensor = 4,
  kGraph = 5,
  kFloats = 6,
  kInts = 7,
  kStrings = 8,
};

struct RawAttribute {
  std::string name;
  std::string reference;  // ref_attr_name
  AttributeKind kind = AttributeKind::kUndefined;
  double number = 0;
  int64_t integer = 0;
  std::string text;
  std::vector<double> numbers;
  std::vector<int64_t> integers;
  std::vector<std::string> texts;
  Pieces tensor;
  Pieces graph;
};

/// Parses an attribute. Returns nothing if the bytes are malformed.
std::optional<RawAttribute> ReadAttribute(Bytes bytes);

/// Returns the name in onnx.proto, such as "TYPE_PROTO", or the number of an unknown kind.
std::string Name(AttributeKind kind);

}  // namespace tunec::onnx_import
