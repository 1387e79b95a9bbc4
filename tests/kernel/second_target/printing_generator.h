// A code generator for a device that does not exist. Its code is a text of the launch and the
// loops. It shows the effort for a second kind of target: a folder like this one.
#pragma once

#include <memory>

#include "jit/code_generator.h"

namespace tunec::second_target {

inline constexpr std::string_view kKind = "printer";
inline constexpr std::string_view kTextFormat = "loops";

/// Returns a host with a device of this kind. Each block may share this many bytes.
Target PrinterWith(int64_t shared_bytes);

std::shared_ptr<const CodeGenerator> MakePrintingGenerator();

}  // namespace tunec::second_target
