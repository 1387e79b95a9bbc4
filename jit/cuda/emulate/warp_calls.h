// What the lanes of a warp do together, as calls that a host module makes.
#pragma once

#include <cstdint>

namespace llvm {
class IntrinsicInst;
class Value;
}  // namespace llvm

namespace tunec::jit {

/// What host modules import; LoadEmulatedMatrices, RunEmulatedTile and ShuffleEmulated stand behind
/// them.
inline constexpr const char* kLoadMatricesName = "tunec_emulated_load_matrices";
inline constexpr const char* kTileName = "tunec_emulated_tile";
inline constexpr const char* kShuffleName = "tunec_emulated_shuffle";

/// Puts a call through `thread`, the EmulatedThread, in the place of ldmatrix, mma.sync or
/// shfl.sync. Each lane loads its own row of a matrix, as any other memory. False, and nothing
/// done, for another intrinsic. `site`: of this call, all of a kernel being different.
bool ReplaceWarpCall(llvm::IntrinsicInst& call, llvm::Value* thread, int32_t site);

}  // namespace tunec::jit
