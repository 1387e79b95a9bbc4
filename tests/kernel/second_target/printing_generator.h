// A code generator for a device that does not exist. The generated code is a text of the launches
// and the loops. This folder shows what a second kind of target must implement.
#pragma once

#include <memory>

#include "jit/code_generator.h"

namespace tunec::second_target {

inline constexpr std::string_view kKind = "printer";
inline constexpr std::string_view kTextFormat = "loops";

/// Returns a target with a device of kind kKind. A block may have this many bytes of shared memory.
Target PrinterWith(int64_t shared_bytes);

std::shared_ptr<const CodeGenerator> MakePrintingGenerator();

}  // namespace tunec::second_target
