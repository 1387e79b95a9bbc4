// LoopNest -> LLVM IR -> x86-64 object code. The object imports no symbols and holds one
// function per phase.
#pragma once

#include <string>

#include "ir/loop_nest.h"
#include "ir/target.h"
#include "runtime/kernel_image.h"
#include "support/error.h"

namespace tunec {

/// Changes whenever the same LoopNest and Target may give other code: part of artifact keys.
inline constexpr int kCodeGeneratorVersion = 12;

/// Where the time of one compilation went.
struct CompileTimes {
  double emit_ms = 0;     // LoopNest -> LLVM IR
  double codegen_ms = 0;  // LLVM IR -> bytes
};

/// All of these are safe to call from several threads. Requires: a nest that Verify accepts,
/// without blocks of threads (serialize_threads.h). Errors: kUnsupported for nodes a CPU has not
/// (roles, fragments, tile intrinsics that it lacks), kDevice for a target without AVX2 and FMA,
/// kResourceLimit for code or stack beyond bounds.
Result<std::string> EmitLlvmIr(const LoopNest& nest, const Target& target);
Result<std::string> EmitAssembly(const LoopNest& nest, const Target& target);
Result<KernelImage> CompileObject(const LoopNest& nest, const Target& target,
                                  CompileTimes* times = nullptr);

}  // namespace tunec
