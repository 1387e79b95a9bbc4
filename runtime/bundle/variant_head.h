// What the code of one variant of a bundle is for.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "support/error.h"

namespace tunec::bundle {

struct VariantHead {
  std::string cpu;                    // as it was asked for when building, for messages
  std::vector<std::string> features;  // that the code may use, by LLVM's names, in their order
  std::string device = {};            // what runs its steps: "cuda"; empty: the host
  std::string arch = {};              // of the device: "sm_90a"
  bool operator==(const VariantHead&) const = default;
};

std::string Serialize(const VariantHead& head);
/// The inverse. kParse when it is damaged.
Result<VariantHead> ParseHead(std::span<const std::byte> bytes);

}  // namespace tunec::bundle
