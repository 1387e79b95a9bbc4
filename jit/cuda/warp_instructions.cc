#include "jit/cuda/warp_instructions.h"

#include <llvm/IR/Intrinsics.h>
#include <llvm/IR/IntrinsicsNVPTX.h>

#include <array>

namespace tunec::jit {
namespace {

constexpr std::array kTiles = {
    WarpInstruction{"mma.m16n8k8.tf32", llvm::Intrinsic::nvvm_mma_m16n8k8_row_col_tf32},
    WarpInstruction{"mma.m16n8k16.bf16", llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_bf16},
    WarpInstruction{"mma.m16n8k16.f16", llvm::Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32, true},
    WarpInstruction{"mma.m16n8k32.s8", llvm::Intrinsic::nvvm_mma_m16n8k32_row_col_s8}};

constexpr std::array kMatrixLoads = {
    MatrixLoadInstruction{llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_b16, 2, false},
    MatrixLoadInstruction{llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x2_trans_b16, 2, true},
    MatrixLoadInstruction{llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16, 4, false},
    MatrixLoadInstruction{llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16, 4, true}};

}  // namespace

std::span<const WarpInstruction> WarpInstructions() { return kTiles; }
std::span<const MatrixLoadInstruction> MatrixLoadInstructions() { return kMatrixLoads; }

}  // namespace tunec::jit
