// A code generator for a device that there is not: its code is a text that says what it would
// launch, and the loops. It shows what a second kind of target takes: a folder like this one.
#pragma once

#include <memory>

#include "jit/code_generator.h"

namespace tunec::second_target {

inline constexpr std::string_view kKind = "printer";
inline constexpr std::string_view kTextFormat = "loops";

/// A host with a device of this kind, whose blocks may share so many bytes.
Target PrinterWith(int64_t shared_bytes);

std::shared_ptr<const CodeGenerator> MakePrintingGenerator();

}  // namespace tunec::second_target
