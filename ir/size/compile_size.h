// Translation of sizes and conditions to programs. It is separate from size_program.h, because
// libtunec_runtime.so only evaluates programs.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "ir/size/size_condition.h"
#include "ir/size/size_expr.h"
#include "ir/size/size_program.h"

namespace tunec {

/// Translates an expression. The named sizes have their numbers in `names`. Returns nullopt if a
/// name is missing, the expression is unknown, or the program would be too long or too deep.
std::optional<SizeProgram> CompileSize(const SizeExpr& size, std::span<const std::string> names);
/// Translates a condition, like CompileSize.
std::optional<SizeCheck> CompileCondition(const SizeCondition& condition,
                                          std::span<const std::string> names);

}  // namespace tunec
