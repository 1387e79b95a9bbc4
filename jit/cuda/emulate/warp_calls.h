// The replacement of the intrinsics of warps and of tf32 rounding by code for the host.
#pragma once

#include <cstdint>

namespace llvm {
class IntrinsicInst;
class Value;
}  // namespace llvm

namespace tunec::jit {

/// The names by which host modules import LoadEmulatedMatrices, RunEmulatedTile and
/// ShuffleEmulated.
inline constexpr const char* kLoadMatricesName = "tunec_emulated_load_matrices";
inline constexpr const char* kTileName = "tunec_emulated_tile";
inline constexpr const char* kShuffleName = "tunec_emulated_shuffle";

/// Replaces ldmatrix, mma.sync or shfl.sync.bfly by a call that receives `thread`, the
/// EmulatedThread. Replaces cvt.rna.tf32 by integer instructions. For ldmatrix, an ordinary load
/// reads each lane's row of the matrix. Returns false, without changes, for other intrinsics.
/// `site` must be unique among the warp operations of the kernel.
bool ReplaceWarpCall(llvm::IntrinsicInst& call, llvm::Value* thread, int32_t site);

}  // namespace tunec::jit
