// The emulation of LLVM's intrinsics for asynchronous copies.
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
  int64_t bytes = 0;                  // kCopy: number of written bytes
  llvm::Value* read_bytes = nullptr;  // kCopy: an i32, `bytes` or 0; null: `bytes`
};

std::optional<CpAsync> CpAsyncOf(llvm::IntrinsicInst& call);

/// Replaces the call by instructions that have its effect at once. A copy becomes a load and a
/// store. The other calls are removed.
void CarryOutAtOnce(const CpAsync& copy);

/// Replaces the call by a call of kCopyName, kCommitName or kWaitName (instrument.h). `thread` is
/// the EmulatedThread. In a call of kCopyName, the base addresses, the site and the name are null
/// or 0 until InstrumentAccesses sets them.
void CarryOutLate(const CpAsync& copy, llvm::Value* thread);

}  // namespace tunec::jit
