// The emulation of warp operations. Each lane supplies registers and continues with the results.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "ir/owner_map.h"
#include "ir/tile_intrinsic.h"
#include "jit/cuda/emulate/emulated_thread.h"

namespace tunec {

/// The registers of one lane. They hold the inputs. The results replace the inputs from the first
/// register on.
using LaneRegisters = uint32_t*;

/// Mask of the lanes of a whole warp, one bit per lane.
inline constexpr uint32_t kWholeWarp = 0xffffffff;

class WarpOperation {
 public:
  /// `name` must outlive the object. `members` is the mask of required lanes, one bit per lane.
  explicit WarpOperation(std::string_view name, uint32_t members = kWholeWarp)
      : name_(name), members_(members) {}
  virtual ~WarpOperation() = default;
  /// Executes the operation on all lanes of the warp. `lanes` has the registers of each lane, in
  /// the order of the lanes. The lanes must be the members.
  virtual void Run(std::span<const LaneRegisters> lanes) const = 0;
  std::string_view name() const { return name_; }
  uint32_t members() const { return members_; }

 private:
  const std::string_view name_;
  const uint32_t members_;
};

/// The operation ldmatrix. Lane l supplies row `l mod 8` of matrix `floor(l/8)`, if there is such a
/// matrix, as four registers of two elements each. Register r of lane l receives element
/// 2*(l mod 4) and the next one of row floor(l/4) of matrix r; if transposed, of column floor(l/4).
/// (PTX ISA 9.2, 9.7.14.5 "ldmatrix".)
class MatrixLoad : public WarpOperation {
 public:
  MatrixLoad(int32_t matrices, bool transposed)
      : WarpOperation("ldmatrix"), matrices_(matrices), transposed_(transposed) {}
  void Run(std::span<const LaneRegisters> lanes) const override;

 private:
  const int32_t matrices_;
  const bool transposed_;
};

/// The operation mma.sync. A lane supplies its fragments of the left operand, the right operand and
/// the accumulator, and receives its fragment of the accumulator. The member `meaning` of the
/// intrinsic computes each element.
class TileProduct : public WarpOperation {
 public:
  /// Requires intrinsic.IsOfWarp(). `intrinsic` must outlive the object.
  explicit TileProduct(const TileIntrinsic& intrinsic)
      : WarpOperation(intrinsic.name), intrinsic_(intrinsic) {}
  void Run(std::span<const LaneRegisters> lanes) const override;

 private:
  const TileIntrinsic& intrinsic_;
};

/// The operation shfl.sync.bfly. A lane supplies a register and receives the register of the lane
/// whose number differs in the bits of `distance`. That lane must be a member. The last warp of a
/// block may have fewer than 32 members.
class RegisterShuffle : public WarpOperation {
 public:
  RegisterShuffle(uint32_t members, uint32_t distance)
      : WarpOperation("shfl.sync", members), distance_(distance) {}
  void Run(std::span<const LaneRegisters> lanes) const override;

 private:
  const uint32_t distance_;
};

/// The point at which a thread has stopped: its end, a barrier or a warp operation.
struct ThreadStop {
  bool ended = true;
  int32_t site = 0;  // number of the barrier or the operation; both count from 1
  const WarpOperation* operation = nullptr;
  LaneRegisters registers = nullptr;  // registers for the operation
};

/// Returns the name of the stop: "its end", "barrier 2", "ldmatrix 3".
std::string NameOfStop(const ThreadStop& stop);

/// Returns the error if the lanes of a warp cannot execute an operation together. Returns "" if no
/// lane is in an operation, or if all lanes are in one operation whose members are all lanes.
std::string DescribeDivergence(std::span<const ThreadStop> lanes);

/// Execute warp operations. Generated code calls these functions in every lane; a call returns when
/// all lanes have called. `address` is the address of the lane's row; it must be a multiple of 16
/// also in a lane that supplies no row. `tile` is the intrinsic's number in TileIntrinsics(). A
/// missing lane ends the process.
void LoadEmulatedMatrices(EmulatedThread* thread, int32_t site, int32_t matrices,
                          int32_t transposed, const void* address, uint32_t* registers);
void RunEmulatedTile(EmulatedThread* thread, int32_t site, int32_t tile, uint32_t* registers);
void ShuffleEmulated(EmulatedThread* thread, int32_t site, uint32_t members, uint32_t distance,
                     uint32_t* registers);

}  // namespace tunec
