// The replacement of warp intrinsics by calls of host functions.
#pragma once

#include <cstdint>

namespace llvm {
class IntrinsicInst;
class Value;
}  // namespace llvm

namespace tunec::jit {

/// Names that host modules import. LoadEmulatedMatrices, RunEmulatedTile and ShuffleEmulated
/// implement them.
inline constexpr const char* kLoadMatricesName = "tunec_emulated_load_matrices";
inline constexpr const char* kTileName = "tunec_emulated_tile";
inline constexpr const char* kShuffleName = "tunec_emulated_shuffle";

/// Replaces ldmatrix, mma.sync or shfl.sync by a call that receives `thread`, the EmulatedThread.
/// Replaces cvt.rna.tf32 by integer instructions. For ldmatrix, an ordinary load reads each lane's
/// row of the matrix. Returns false, without changes, for other intrinsics. `site` must be unique
/// within the kernel.
bool ReplaceWarpCall(llvm::IntrinsicInst& call, llvm::Value* thread, int32_t site);

}  // namespace tunec::jit
