// What an object file defines and imports.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.h"

namespace tunec::jit {

struct FunctionSize {
  std::string name;
  uint64_t bytes = 0;
};

/// The functions an ELF object defines. Errors: kParse when it is no object; kInternal when it
/// imports a symbol that is not among `imports`, since then a call slipped into the kernel.
Result<std::vector<FunctionSize>> CheckObject(const std::string& bytes,
                                              std::span<const std::string_view> imports = {});

}  // namespace tunec::jit
