// An ONNX model as plain data: what parse_model.cc makes of the protobuf messages, so that no
// other file sees their headers. Internal to graph/onnx.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "graph/graph.h"
#include "graph/onnx/file/mapped_file.h"
#include "ir/array.h"
#include "ir/data_type.h"
#include "support/error.h"
#include "support/file.h"

namespace tunec::onnx_import {

struct OnnxGraph;

/// An attribute inside a function body that takes its value from the function's call.
struct AttributeReference {
  std::string name;
};

/// An attribute whose kind no handler wants (sparse tensors, types, lists of graphs).
struct UnsupportedAttribute {
  std::string kind;
};

/// Floats are widened from f32, so 1e-5 reads as 9.99999974e-06.
using OnnxAttribute =
    std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                 std::vector<std::string>, Array, std::shared_ptr<const OnnxGraph>,
                 AttributeReference, UnsupportedAttribute>;
using OnnxAttributes = std::map<std::string, OnnxAttribute, std::less<>>;

struct OnnxNode {
  std::string op_type;
  std::string domain;  // empty for the default domain, also where the file says "ai.onnx"
  std::string name;    // as in the file; empty: unnamed
  std::vector<std::string> inputs;  // empty string: omitted
  std::vector<std::string> outputs;
  OnnxAttributes attributes;
};

/// A graph input or output. Without type: the file does not say (allowed in subgraphs).
struct OnnxValue {
  std::string name;
  std::optional<DataType> type;
  std::optional<std::vector<Dim>> dims;  // an open dimension without a name has the parameter ""
};

struct OnnxGraph {
  std::string name;
  std::vector<OnnxValue> inputs;
  std::vector<OnnxValue> outputs;
  std::vector<std::pair<std::string, Array>> initializers;
  std::vector<OnnxNode> nodes;
};

struct OnnxFunction {
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  OnnxAttributes defaults;  // of the attributes that its nodes may refer to
  std::map<std::string, int64_t, std::less<>> opsets;
  std::vector<OnnxNode> nodes;
};

struct OnnxModel {
  std::map<std::string, int64_t, std::less<>> opsets;  // by domain, the default one as ""
  OnnxGraph graph;
  std::map<std::pair<std::string, std::string>, OnnxFunction> functions;  // by domain and name
  std::vector<FileStamp> external_files;  // that weights lie in, from before they were read
};

/// Decodes a serialized ModelProto. `folders` confine external data; without them it is refused.
Result<OnnxModel> ParseModel(std::span<const std::byte> bytes,
                             const std::optional<DataFolders>& folders);

/// "'conv1' (Conv)", or for a node without a name "(Conv that makes 'y')".
std::string Describe(const OnnxNode& node);

}  // namespace tunec::onnx_import
