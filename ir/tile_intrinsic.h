// The table of tile intrinsics: single instructions that do what a small nest of loops does, a sum
// of products of two operands into an accumulator. An entry says how the elements must lie, what
// comes out to the last bit (for the interpreter), and what a machine needs to have it. Code
// generators emit entries by name; a schedule names one in `tensorize`.
//
// The loops of an entry are over rows (of the left operand and the result), columns (of the right
// operand and the result), and what is reduced, in groups where neighbours are stored together
// (two bfloat16 of a dot product). An entry without rows multiplies one left element, or group,
// for all columns.
//
// Some entries are executed by the 32 threads of a warp together. Their accumulator is a fragment:
// storage in registers, whose elements the lanes share out by the entry's owner map. Its last two
// dimensions are rows and columns; whole tiles lie in it side by side.
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

/// What a loop of a tile is over, outermost first.
enum class TileAxis : uint8_t { kRow, kReduced, kGroup, kColumn };
inline constexpr int kTileAxes = 4;
std::string_view Name(TileAxis axis);

/// How far apart in storage neighbours along an axis lie.
inline constexpr int64_t kNotUsed = 0;     // the operand is the same along the axis
inline constexpr int64_t kAnyStride = -1;  // a stride that the instruction is told
inline constexpr int64_t kByOwner = -2;    // in the registers of lanes, not in memory

/// An operand, or the accumulator: where in storage its elements are, counted from the first.
struct TileOperand {
  DataType type = DataType::kF32;
  int64_t strides[kTileAxes] = {};  // by TileAxis, in elements
  std::vector<Scope> scopes;        // where a tensor of the kernel's own may lie
  /// Of an entry for warps: which lane has which element of the matrix. The left operand's rows are
  /// rows and its columns what is reduced; the right one's rows are what is reduced.
  std::optional<OwnerMap> owners = {};
};

/// The accumulator after one element's products; `left` and `right` are the reduced elements, in
/// the order of the loops. What is rounded, and how often, is the instruction's.
using TileMeaning = Scalar (*)(const Scalar& accumulator, std::span<const Scalar> left,
                               std::span<const Scalar> right);

struct TileIntrinsic {
  std::string name;
  int64_t extents[kTileAxes] = {1, 1, 1, 1};  // by TileAxis; 1: no such loop
  TileOperand left;
  TileOperand right;
  TileOperand accumulator;
  TileMeaning meaning = nullptr;
  bool rounds_operands = false;       // float32 to TF32, which has ten bits of fraction
  std::string target;                 // "cpu" or "cuda"
  std::vector<std::string> features;  // that a target of this kind must have

  int64_t Extent(TileAxis axis) const { return extents[static_cast<int>(axis)]; }
  /// Whether the threads of a warp execute it together.
  bool IsOfWarp() const { return accumulator.owners.has_value(); }
};

/// All entries, in a fixed order.
std::span<const TileIntrinsic> TileIntrinsics();
/// The entry of that name; null when there is none.
const TileIntrinsic* FindTileIntrinsic(std::string_view name);
/// The features that the target lacks.
std::vector<std::string> MissingFeatures(const TileIntrinsic& intrinsic, const Target& target);
/// The same of all tiles of a nest.
std::vector<std::string> MissingFeatures(const LoopNest& nest, const Target& target);

/// A tile's loops and statement, found in its body.
struct TileParts {
  const TileIntrinsic* intrinsic = nullptr;
  const Loop* loops[kTileAxes] = {};  // null where the entry has none
  const Store* store = nullptr;
  int left = 0;   // the slot of the read that is the left operand
  int right = 1;  // and of the right one
};

/// The entry that the tile names, if it is one that a warp executes; else null.
const TileIntrinsic* WarpIntrinsicOf(const Tile& tile);
/// Whether a warp's tile is a node of the body, or inside of one.
bool HoldsWarpTile(const Body& body);

/// What a Tile of this nest consists of. Errors: an unknown name; a body that is not a chain of
/// the entry's loops, from 0 to their extents, around one sum of products; an operand of another
/// type, or whose elements lie otherwise.
Result<TileParts> PartsOf(const Tile& tile, const LoopNest& nest);
/// The same; an error says why alone, for whoever names the tile otherwise.
Result<TileParts> MatchTile(const Tile& tile, const LoopNest& nest);

/// Why storage offsets over the loops' variables are not as the entry wants them; empty when they
/// are. `variables` by TileAxis, none where there is no loop. `what` names the operand.
std::string MisplacedIn(const TileOperand& operand, const TileIntrinsic& intrinsic,
                        const IndexExpr& offset, std::span<const std::optional<VarId>> variables,
                        std::string_view what);

}  // namespace tunec
