// The table of tile intrinsics. An intrinsic is a single instruction that does the work of a small
// loop nest: it adds sums of products of two operands to an accumulator. An entry gives the layout
// of the elements, a function for the result, and the features that a target needs. Code generators
// and the schedule step `tensorize` find an entry by its name.
//
// The loops of an entry are over rows (of the left operand and the result), columns (of the right
// operand and the result), and the reduced dimension. The reduced dimension may have groups of
// consecutive elements that are stored together, such as the two bfloat16 of a dot product. An
// entry without rows multiplies one left element, or one left group, by the element or the group of
// each column.
//
// The 32 threads of a warp execute some entries together. The accumulator of such an entry can be a
// fragment: storage in registers, whose elements are distributed over the lanes by the entry's
// owner map. The fragment's last two dimensions are rows and columns. A fragment may hold several
// tiles side by side.
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

/// The kinds of loops of a tile, from the outermost to the innermost.
enum class TileAxis : uint8_t { kRow, kReduced, kGroup, kColumn };
inline constexpr int kTileAxes = 4;
std::string_view Name(TileAxis axis);

/// Values that an operand's stride can have instead of the distance between consecutive elements
/// along an axis, in elements of storage.
inline constexpr int64_t kNotUsed = 0;     // the operand is the same along the axis
inline constexpr int64_t kAnyStride = -1;  // the stride is an operand of the instruction
inline constexpr int64_t kByOwner = -2;    // stored in registers of the lanes, not in memory

/// The type and the placement of the elements of an operand or of the accumulator.
struct TileOperand {
  DataType type = DataType::kF32;
  int64_t strides[kTileAxes] = {};  // by TileAxis, in elements
  std::vector<Scope> scopes;        // scopes in which a tensor of the kernel may be stored
  /// The lanes that own the elements of the matrix, only if one warp executes the entry. The
  /// reduced dimension is the columns of the left matrix and the rows of the right one.
  std::optional<OwnerMap> owners = {};
};

/// A function that returns an element of the accumulator after its products are added. `left` and
/// `right` have the elements of the operands along the reduced dimension, in the order of the
/// loops. The function rounds where the instruction is documented to round.
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
  /// Returns whether the threads of one warp execute the intrinsic together.
  bool IsOfWarp() const { return accumulator.owners.has_value(); }
};

/// Returns all entries, in a fixed order.
std::span<const TileIntrinsic> TileIntrinsics();
/// Returns the entry of this name, or null.
const TileIntrinsic* FindTileIntrinsic(std::string_view name);
/// Returns the features of the entry that the target neither has nor emulates. Returns only the
/// text "a cuda" or "a cpu" if the entry is for the other kind of target.
std::vector<std::string> MissingFeatures(const TileIntrinsic& intrinsic, const Target& target);
/// Returns the missing features of a nest's tiles, each once. Skips tiles of unknown entries.
std::vector<std::string> MissingFeatures(const LoopNest& nest, const Target& target);

/// A tile's loops and statement, found in its body.
struct TileParts {
  const TileIntrinsic* intrinsic = nullptr;
  const Loop* loops[kTileAxes] = {};  // null if the entry has no such loop
  const Store* store = nullptr;
  int left = 0;   // slot of the read that is the left operand
  int right = 1;  // slot of the right operand
};

/// Returns the entry that the tile names if a warp executes the entry. Returns null for all other
/// entries and for unknown names.
const TileIntrinsic* WarpIntrinsicOf(const Tile& tile);
/// Returns whether the body contains a tile that a warp executes, at any depth.
bool HoldsWarpTile(const Body& body);

/// Returns the parts of a Tile of this nest. Fails for an unknown name. Fails unless the body is
/// the chain of the entry's loops, each from 0 to its extent, around one sum of products. Also
/// fails if the type or layout of an operand or accumulator does not match the entry, or an operand
/// has a guard.
Result<TileParts> PartsOf(const Tile& tile, const LoopNest& nest);
/// Returns the parts as PartsOf does, but an error does not name the tile. Callers add a name for
/// the tile.
Result<TileParts> MatchTile(const Tile& tile, const LoopNest& nest);

/// Returns the reason why the strides of a storage offset along the loops do not match the entry.
/// Returns an empty string if they match. `variables` has an element for each TileAxis, without a
/// value if there is no such loop. `what` is the name of the operand in the reason.
std::string DescribeMisplacement(const TileOperand& operand, const TileIntrinsic& intrinsic,
                                 const IndexExpr& offset,
                                 std::span<const std::optional<VarId>> variables,
                                 std::string_view what);

}  // namespace tunec
