// The unsupported nodes of a model, reported in one error. Only graph/onnx uses this file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/onnx/file/model.h"
#include "support/error.h"

namespace tunec::onnx_import {

class UnsupportedNodes {
 public:
  /// Records a node. An empty `why` means that the operator is unknown.
  void Note(const OnnxNode& node, std::string_view why);
  /// Fails with kUnsupported if a node was recorded. The message lists the operators, any
  /// reasons, and some nodes of each operator.
  Status Report() const;

 private:
  struct Kind {
    std::string op;  // with its domain
    std::string why;
    std::vector<std::string> nodes;
  };
  std::vector<Kind> kinds_;  // in the order of their first nodes
};

}  // namespace tunec::onnx_import
