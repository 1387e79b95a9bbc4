// LLVM's intrinsics for asynchronous copies, as the emulation sees them.
#pragma once

#include <cstdint>
#include <optional>

namespace llvm {
class IntrinsicInst;
class Value;
}  // namespace llvm

namespace tunec::jit {

/// A call of one of the intrinsics that jit/cuda/emit_copies emits.
struct CpAsync {
  enum class Kind : uint8_t { kCopy, kCommit, kWait };
  Kind kind = Kind::kCopy;
  llvm::IntrinsicInst* call = nullptr;
  int64_t bytes = 0;                  // kCopy: that are written
  llvm::Value* read_bytes = nullptr;  // kCopy: an i32, `bytes` or 0; null: `bytes`
};

std::optional<CpAsync> CpAsyncOf(llvm::IntrinsicInst& call);

/// The call becomes what it does at last, done at once: a load and a store, or nothing.
void CarryOutAtOnce(const CpAsync& copy);

/// The call becomes one of kCopyName, kCommitName or kWaitName (instrument.h). What that does not
/// know yet is null: where addresses set out from, which instruction it is, its name.
void CarryOutLate(const CpAsync& copy, llvm::Value* thread);

}  // namespace tunec::jit
