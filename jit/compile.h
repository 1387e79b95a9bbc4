// LoopNest -> LLVM IR -> x86-64 object code. The object imports no symbols and holds one
// function per phase.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/loop_nest.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// Changes whenever the same LoopNest and Target may give other code: part of artifact keys.
inline constexpr int kCodeGeneratorVersion = 12;
/// "tunec-codegen 1, LLVM 22.1.8"
std::string CodeGeneratorVersion();

struct PhaseSymbol {
  std::string name;
  int64_t tasks = 1;
  int64_t waves = 1;  // of tasks / waves each, with a barrier between two
  bool operator==(const PhaseSymbol&) const = default;
};

/// A compiled kernel, position-independent and self-contained, fit for storing.
struct ObjectCode {
  std::string bytes;  // an ELF relocatable object
  std::vector<PhaseSymbol> phases;
  int64_t workspace_bytes = 0;
  int64_t scratch_bytes = 0;
  bool operator==(const ObjectCode&) const = default;
};

/// A line of text, `tunec-object 2 WORKSPACE SCRATCH PHASES BYTES`, a line `TASKS WAVES NAME` per
/// phase, then the bytes.
std::string Serialize(const ObjectCode& object);
/// The inverse; kParse when it is damaged or of another version.
Result<ObjectCode> ParseObjectCode(std::string_view bytes);

/// Where the time of one compilation went.
struct CompileTimes {
  double emit_ms = 0;     // LoopNest -> LLVM IR
  double codegen_ms = 0;  // LLVM IR -> bytes
};

/// All of these are safe to call from several threads. Requires: a nest that Verify accepts,
/// without blocks of threads (serialize_threads.h). Errors: kUnsupported for nodes a CPU has not
/// (roles, tile intrinsics, fragments), kDevice for a target without AVX2 and FMA, kResourceLimit
/// for code or stack beyond bounds.
Result<std::string> EmitLlvmIr(const LoopNest& nest, const Target& target);
Result<std::string> EmitAssembly(const LoopNest& nest, const Target& target);
Result<ObjectCode> CompileObject(const LoopNest& nest, const Target& target,
                                 CompileTimes* times = nullptr);

}  // namespace tunec
