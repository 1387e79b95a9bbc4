// An ONNX model as plain data. parse_model.cc creates it from the protobuf messages, so that the
// importer does not depend on the protobuf format. Only graph/onnx uses this file.
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

/// An attribute inside a function body that refers to an attribute of the function.
struct AttributeReference {
  std::string name;
};

/// An attribute that no handler supports: of a kind such as sparse tensors, types and lists of
/// graphs, or an unsupported tensor.
struct UnsupportedAttribute {
  std::string kind;
};

/// The value of an attribute. A file's floats are widened from f32, so 1e-5 becomes 9.99999974e-06.
using OnnxAttribute =
    std::variant<int64_t, double, std::string, std::vector<int64_t>, std::vector<double>,
                 std::vector<std::string>, Array, std::shared_ptr<const OnnxGraph>,
                 AttributeReference, UnsupportedAttribute>;
using OnnxAttributes = std::map<std::string, OnnxAttribute, std::less<>>;

struct OnnxNode {
  std::string op_type;
  std::string domain;               // empty for the default domain, also if the file has "ai.onnx"
  std::string name;                 // name in the file; empty: unnamed
  std::vector<std::string> inputs;  // empty string: omitted
  std::vector<std::string> outputs;
  OnnxAttributes attributes;
};

/// A named value, such as a graph input. The type is empty if the file omits it (allowed in
/// subgraphs), or if the type of an output cannot be decoded.
struct OnnxValue {
  std::string name;
  std::optional<DataType> type;
  /// A dynamic dimension without a name in the file is unknown. For an input of a graph, it has the
  /// name `input.axis`.
  std::optional<std::vector<Dim>> dims;
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
  OnnxAttributes defaults;  // default values of attributes that the function's nodes may refer to
  std::map<std::string, int64_t, std::less<>> opsets;
  std::vector<OnnxNode> nodes;
};

struct OnnxModel {
  std::map<std::string, int64_t, std::less<>> opsets;  // by domain; the default domain is ""
  OnnxGraph graph;
  std::map<std::pair<std::string, std::string>, OnnxFunction> functions;  // by domain and name
  std::vector<FileStamp> external_files;  // files of weights; the stamps were taken before reading
};

/// Decodes a serialized ModelProto. External data is confined to `folders`, and rejected without
/// `folders`. Errors: kParse for a damaged model, kUnsupported, kResourceLimit for 2 GiB or more,
/// and those of MappedFile::OpenConfined.
Result<OnnxModel> ParseModel(std::span<const std::byte> bytes,
                             const std::optional<DataFolders>& folders);

/// Returns text such as "'conv1' (Conv)", or "(Conv that makes 'y')" for a node without a name.
std::string Describe(const OnnxNode& node);

}  // namespace tunec::onnx_import
