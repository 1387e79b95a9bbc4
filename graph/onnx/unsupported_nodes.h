// The nodes of a model that tunec cannot translate, for one error that names them all. Internal to
// graph/onnx.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/onnx/file/model.h"
#include "support/error.h"

namespace tunec::onnx_import {

class UnsupportedNodes {
 public:
  /// `why` may be empty: the operator is not known.
  void Note(const OnnxNode& node, std::string_view why);
  /// kUnsupported when a node was noted: by operator and reason, each with the number of its nodes
  /// and the names of the first.
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
