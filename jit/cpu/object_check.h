// What an object file defines and imports.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "support/error.h"

namespace tunec::jit {

struct FunctionSize {
  std::string name;
  uint64_t bytes = 0;
};

/// The functions an ELF object defines. Errors: kParse when it is no object; kInternal when it
/// imports a symbol, since then a call slipped into the kernel.
Result<std::vector<FunctionSize>> CheckObject(const std::string& bytes);

}  // namespace tunec::jit
