// What the lanes of a warp do together: each brings some registers, all go on with the results.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ir/owner_map.h"
#include "ir/tile_intrinsic.h"
#include "jit/cuda/emulate/emulated_thread.h"

namespace tunec {

/// The registers of one lane: what goes in, and from the first on what comes out.
using LaneRegisters = uint32_t*;

/// The lanes of a whole warp, by their bits.
inline constexpr uint32_t kWholeWarp = 0xffffffff;

class WarpOperation {
 public:
  /// `name` outlives it. `members`: the lanes that have to come, by their bits.
  explicit WarpOperation(std::string_view name, uint32_t members = kWholeWarp)
      : name_(name), members_(members) {}
  virtual ~WarpOperation() = default;
  /// Of all lanes of the warp, from 0 on. Requires: they are the members.
  virtual void Run(std::span<const LaneRegisters> lanes) const = 0;
  std::string_view name() const { return name_; }
  uint32_t members() const { return members_; }

 private:
  const std::string_view name_;
  const uint32_t members_;
};

/// ldmatrix: lane l brings row `l mod 8` of matrix `floor(l/8)`, four registers of two elements
/// each; register r of lane l is of matrix r: elements 2*(l mod 4) and the next of row floor(l/4),
/// or, transposed, of column floor(l/4). (PTX ISA 9.2, 9.7.14.5 "ldmatrix".)
class MatrixLoad : public WarpOperation {
 public:
  MatrixLoad(int32_t matrices, bool transposed)
      : WarpOperation("ldmatrix"), matrices_(matrices), transposed_(transposed) {}
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
  explicit TileProduct(const TileIntrinsic& intrinsic)
      : WarpOperation(intrinsic.name), intrinsic_(intrinsic) {}
  void Run(std::span<const LaneRegisters> lanes) const override;

 private:
  const TileIntrinsic& intrinsic_;
};

/// shfl.sync.bfly: a lane brings a register, and gets that of the lane whose number differs in the
/// bits `distance`. The last warp of a block may have fewer than 32 members.
class RegisterShuffle : public WarpOperation {
 public:
  RegisterShuffle(uint32_t members, uint32_t distance)
      : WarpOperation("shfl.sync", members), distance_(distance) {}
  void Run(std::span<const LaneRegisters> lanes) const override;

 private:
  const uint32_t distance_;
};

/// Where a thread has stopped: at its end, at a barrier or in an operation of its warp.
struct ThreadStop {
  bool ended = true;
  int32_t site = 0;  // of the barrier or the operation, numbered each from 1 on
  const WarpOperation* operation = nullptr;
  LaneRegisters registers = nullptr;  // for the operation
};

/// "its end", "barrier 2", "ldmatrix 3".
std::string PlaceOf(const ThreadStop& stop);

/// Empty when no lane of a warp is in an operation, or all are in the same one, which is for all of
/// them; else what is wrong.
std::string WhyDivergent(std::span<const ThreadStop> lanes);

/// What generated code calls, in every lane of a warp; it comes back when all have. `address` is
/// where the row of a lane lies that brings one: it has to be a multiple of 16. `tile` is the
/// intrinsic's number in TileIntrinsics(). A launch that leaves a lane out ends the process.
void LoadEmulatedMatrices(EmulatedThread* thread, int32_t site, int32_t matrices,
                          int32_t transposed, const void* address, uint32_t* registers);
void RunEmulatedTile(EmulatedThread* thread, int32_t site, int32_t tile, uint32_t* registers);
void ShuffleEmulated(EmulatedThread* thread, int32_t site, uint32_t members, uint32_t distance,
                     uint32_t* registers);

}  // namespace tunec
