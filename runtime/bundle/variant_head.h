// A section that describes the target for which a bundle's variant was compiled.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "support/error.h"

namespace tunec::bundle {

/// The target of a variant's code.
struct VariantHead {
  std::string cpu;                    // name given at build time, for messages
  std::vector<std::string> features;  // features that the code may use, by LLVM's names, in order
  std::string device = {};            // the device that runs the steps: "cuda"; empty: the host
  std::string arch = {};              // architecture of the device: "sm_90a"
  bool operator==(const VariantHead&) const = default;
};

std::string Serialize(const VariantHead& head);
/// Parses a head. Fails with kParse if it is damaged.
Result<VariantHead> ParseHead(std::span<const std::byte> bytes);

}  // namespace tunec::bundle
