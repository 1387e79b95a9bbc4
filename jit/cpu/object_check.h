// A function that lists the functions of an object file and rejects unknown imports.
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

/// Returns the functions that an ELF object defines. Fails with kParse for bytes that are not an
/// object, or for a damaged symbol table. Fails with kInternal for an imported symbol outside of
/// `imports`, because kernels must not call other functions.
Result<std::vector<FunctionSize>> CheckObject(const std::string& bytes,
                                              std::span<const std::string_view> imports = {});

}  // namespace tunec::jit
