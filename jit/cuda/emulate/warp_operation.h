// What the lanes of a warp do together: each brings some registers, all go on with the results.
#pragma once

#include <cstdint>
#include <span>

#include "ir/owner_map.h"
#include "ir/tile_intrinsic.h"
#include "jit/cuda/emulate/emulated_thread.h"

namespace tunec {

/// The registers of one lane: what goes in, and from the first on what comes out.
using LaneRegisters = uint32_t*;

class WarpOperation {
 public:
  virtual ~WarpOperation() = default;
  /// Of lanes 0 to 31.
  virtual void Run(std::span<const LaneRegisters> lanes) const = 0;
};

/// ldmatrix: lane l brings row `l mod 8` of matrix `floor(l/8)`, four registers of two elements
/// each; register r of lane l is of matrix r: elements 2*(l mod 4) and the next of row floor(l/4),
/// or, transposed, of column floor(l/4). (PTX ISA 9.2, 9.7.14.5 "ldmatrix".)
class MatrixLoad : public WarpOperation {
 public:
  MatrixLoad(int32_t matrices, bool transposed) : matrices_(matrices), transposed_(transposed) {}
  void Run(std::span<const LaneRegisters> lanes) const override;

 private:
  const int32_t matrices_;
  const bool transposed_;
};

/// mma.sync: a lane brings its fragments of the left operand, of the right one and of the
/// accumulator, which is what it gets back. Every element is what the intrinsic means.
class TileProduct : public WarpOperation {
 public:
  /// `intrinsic` outlives it. Requires: it is of a warp.
  explicit TileProduct(const TileIntrinsic& intrinsic) : intrinsic_(intrinsic) {}
  void Run(std::span<const LaneRegisters> lanes) const override;

 private:
  const TileIntrinsic& intrinsic_;
};

/// What generated code calls, in every lane of a warp; it comes back when all have. `address` is
/// where the row of a lane lies that brings one: it has to be a multiple of 16. `tile` is the
/// intrinsic's number in TileIntrinsics(). A launch that leaves a lane out ends the process.
void LoadEmulatedMatrices(EmulatedThread* thread, int32_t site, int32_t matrices,
                          int32_t transposed, const void* address, uint32_t* registers);
void RunEmulatedTile(EmulatedThread* thread, int32_t site, int32_t tile, uint32_t* registers);

}  // namespace tunec
