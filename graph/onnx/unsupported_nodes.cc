#include "graph/onnx/unsupported_nodes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <span>

namespace tunec::onnx_import {
namespace {

constexpr size_t kNamed = 4;  // largest number of nodes named per kind

std::string OperatorName(const OnnxNode& node) {
  return node.domain.empty() ? node.op_type : node.domain + "." + node.op_type;
}

std::string NodeName(const OnnxNode& node) {
  if (!node.name.empty()) return fmt::format("'{}'", node.name);
  return fmt::format("the one that makes '{}'", node.outputs.empty() ? "" : node.outputs.front());
}

std::string Nodes(const std::vector<std::string>& nodes) {
  const auto first = std::span(nodes).first(std::min(nodes.size(), kNamed));
  const std::string more =
      nodes.size() > kNamed ? fmt::format(" and {} more", nodes.size() - kNamed) : "";
  const std::string names = fmt::format("{}{}", fmt::join(first, ", "), more);
  return nodes.size() == 1 ? names : fmt::format("{} nodes: {}", nodes.size(), names);
}

}  // namespace

void UnsupportedNodes::Note(const OnnxNode& node, std::string_view why) {
  const std::string op = OperatorName(node);
  const auto found = std::ranges::find_if(
      kinds_, [&](const Kind& kind) { return kind.op == op && kind.why == why; });
  Kind& kind = found == kinds_.end() ? kinds_.emplace_back(Kind{op, std::string(why), {}}) : *found;
  kind.nodes.push_back(NodeName(node));
}

Status UnsupportedNodes::Report() const {
  if (kinds_.empty()) return {};
  size_t count = 0;
  std::vector<std::string> parts;
  for (const Kind& kind : kinds_) {
    count += kind.nodes.size();
    const std::string why = kind.why.empty() ? "" : ": " + kind.why;
    parts.push_back(fmt::format("{} ({}){}", kind.op, Nodes(kind.nodes), why));
  }
  return Fail(ErrorCode::kUnsupported, "{} not supported: {}",
              count == 1 ? "1 node is" : fmt::format("{} nodes are", count),
              fmt::join(parts, "; "));
}

}  // namespace tunec::onnx_import
