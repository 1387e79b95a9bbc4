// Weights are nearly all of a model's bytes. Protobuf would copy each into a string of 4 KiB
// pages, and the page faults of that take longer than everything else in an import: two seconds
// per GiB. So they are taken out of the message beforehand, and copied to large pages.
// Internal to graph/onnx.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tunec::onnx_import {

struct DetachedWeights {
  std::string message;  // the ModelProto without these bytes
  /// Per initializer of the model's graph, in order: its raw_data, within the input. Empty: small
  /// or absent, and still in the message.
  std::vector<std::span<const std::byte>> raw_data;
};

/// Walks the outermost levels of a serialized ModelProto. Nothing when they are malformed or
/// unusual (a field twice that should stand once): protobuf is to judge the whole then.
std::optional<DetachedWeights> DetachWeights(std::span<const std::byte> model);

/// A copy on huge pages, aligned to 64 or more.
std::shared_ptr<const std::byte> CopyToLargePages(std::span<const std::byte> bytes);

}  // namespace tunec::onnx_import
