// The table of tile intrinsics. An intrinsic is a single instruction that does the work of a small
// loop nest: a sum of products of two operands into an accumulator. An entry gives the layout of
// the elements, the exact result (for the interpreter), and the features that a machine needs. Code
// generators emit entries by name; a schedule names one in `tensorize`.
//
// The loops of an entry are over rows (of the left operand and the result), columns (of the right
// operand and the result), and the reduced dimension. The reduced dimension has groups of
// neighbours that are stored together (two bfloat16 of a dot product). An entry without rows
// multiplies one left element, or group, for all columns.
//
// The 32 threads of a warp execute some entries together. Their accumulator is a fragment: storage
// in registers, whose elements are distributed over the lanes by the entry's owner map. The
// fragment's last two dimensions are rows and columns. It holds whole tiles side by side.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expr/evaluate_expr.h"
#include "ir/loop_nest.h"
#include "ir/owner_map.h"
#include "ir/target.h"

namespace tunec {

/// The dimension of a tile's loop, outermost first.
enum class TileAxis : uint8_t { kRow, kReduced, kGroup, kColumn };
inline constexpr int kTileAxes = 4;
std::string_view Name(TileAxis axis);

/// The storage distance of neighbours along an axis, or one of these values.
inline constexpr int64_t kNotUsed = 0;     // the operand is the same along the axis
inline constexpr int64_t kAnyStride = -1;  // the stride is an operand of the instruction
inline constexpr int64_t kByOwner = -2;    // stored in registers of the lanes, not in memory

/// The storage offsets of an operand's or the accumulator's elements, counted from the first
/// element.
struct TileOperand {
  DataType type = DataType::kF32;
  int64_t strides[kTileAxes] = {};  // by TileAxis, in elements
  std::vector<Scope> scopes;        // scopes in which a tensor of the kernel may be stored
  /// For warps: the lanes that own the matrix's elements. The left operand's matrix has the reduced
  /// dimension as columns, the right operand's matrix has it as rows.
  std::optional<OwnerMap> owners = {};
};

/// Returns the accumulator after one element's products. `left` and `right` are the reduced
/// elements, in the order of the loops. The instruction determines what is rounded, and how often.
using TileMeaning = Scalar (*)(const Scalar& accumulator, std::span<const Scalar> left,
                               std::span<const Scalar> right);

struct TileIntrinsic {
  std::string name;
  int64_t extents[kTileAxes] = {1, 1, 1, 1};  // by TileAxis; 1: no such loop
  TileOperand left;
  TileOperand right;
  TileOperand accumulator;
  TileMeaning meaning = nullptr;
  bool rounds_operands = false;       // float32 operands are rounded to TF32, which has a 10-bit
                                      // fraction
  std::string target;                 // "cpu" or "cuda"
  std::vector<std::string> features;  // features that a target of this kind must have

  int64_t Extent(TileAxis axis) const { return extents[static_cast<int>(axis)]; }
  /// Checks that the threads of a warp execute the intrinsic together.
  bool IsOfWarp() const { return accumulator.owners.has_value(); }
};

/// Returns all entries, in a fixed order.
std::span<const TileIntrinsic> TileIntrinsics();
/// Returns the entry of this name, or null.
const TileIntrinsic* FindTileIntrinsic(std::string_view name);
/// Returns the features that the target lacks.
std::vector<std::string> MissingFeatures(const TileIntrinsic& intrinsic, const Target& target);
/// Returns the features that the target lacks for the tiles of a nest.
std::vector<std::string> MissingFeatures(const LoopNest& nest, const Target& target);

/// A tile's loops and statement, found in its body.
struct TileParts {
  const TileIntrinsic* intrinsic = nullptr;
  const Loop* loops[kTileAxes] = {};  // null if the entry has no such loop
  const Store* store = nullptr;
  int left = 0;   // slot of the read that is the left operand
  int right = 1;  // slot of the right operand
};

/// Returns the entry that the tile names if a warp executes it, else null.
const TileIntrinsic* WarpIntrinsicOf(const Tile& tile);
/// Checks that a warp's tile is in the body, at any depth.
bool HoldsWarpTile(const Body& body);

/// Returns the parts of a Tile of this nest. Errors: an unknown name; a body that is not a chain of
/// the entry's loops, from 0 to their extents, around one sum of products; an operand of another
/// type or layout.
Result<TileParts> PartsOf(const Tile& tile, const LoopNest& nest);
/// Returns the parts as PartsOf does. An error gives only the reason, for callers that name the
/// tile differently.
Result<TileParts> MatchTile(const Tile& tile, const LoopNest& nest);

/// Returns the reason why storage offsets over the loops' variables do not match the entry; empty
/// if they match. `variables` is indexed by TileAxis, without a value for a missing loop. `what`
/// names the operand.
std::string MisplacedIn(const TileOperand& operand, const TileIntrinsic& intrinsic,
                        const IndexExpr& offset, std::span<const std::optional<VarId>> variables,
                        std::string_view what);

}  // namespace tunec
