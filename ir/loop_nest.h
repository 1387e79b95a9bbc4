// A LoopNest is an executable form of a Compute: explicit loops, storage and stores. Code
// generators read it and do not depend on operators or schedules. Every LoopNest can be printed,
// parsed (text) and verified. Every LoopNest without Roles can be interpreted.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "ir/compute.h"

namespace tunec {

enum class LoopKind : uint8_t {
  kSerial,
  kParallel,  // tasks: only in an unbroken chain at the top of a phase, with constant bounds
  kVector,    // innermost; the step is 1; iterations are independent or form a horizontal reduction
  kUnrolled,  // unrolled completely; constants bound the number of iterations
  kGridX,     // a loop over blocks of threads; blocks are tasks; in a chain like parallel loops
  kGridY,
  kGridZ,
  kBlockX,  // a loop over the threads of a block; the value is the thread's number along the axis
  kBlockY,
  kBlockZ,
  kWarp,
  kWave,  // around a phase's parallel loops, with constant bounds; iterations run in order
};

constexpr bool IsGrid(LoopKind kind) {
  return kind == LoopKind::kGridX || kind == LoopKind::kGridY || kind == LoopKind::kGridZ;
}
constexpr bool IsBlock(LoopKind kind) {
  return kind == LoopKind::kBlockX || kind == LoopKind::kBlockY || kind == LoopKind::kBlockZ;
}
/// Returns the axis of a block loop: 0, 1 or 2 for x, y or z. Requires IsBlock(kind).
constexpr size_t BlockAxis(LoopKind kind) {
  return static_cast<size_t>(kind) - static_cast<size_t>(LoopKind::kBlockX);
}

/// The largest number of threads of a block, over all axes. Every CUDA device allows this number.
inline constexpr int64_t kMostBlockThreads = 1024;
/// The number of threads of a warp. These are consecutive threads of a block, x fastest. They can
/// read each other's registers.
inline constexpr int64_t kWarpThreads = 32;
/// The largest number of iterations of a kUnrolled loop.
inline constexpr int64_t kMostUnrolled = 4096;

enum class Scope : uint8_t { kGlobal, kPacked, kShared, kRegister, kTile, kFragment };

/// Returns whether each thread of a block has its own storage of this scope.
constexpr bool IsPrivate(Scope scope) {
  return scope == Scope::kRegister || scope == Scope::kPacked || scope == Scope::kFragment;
}

struct NestNode;
using Body = std::vector<NestNode>;

/// A loop of the form for (var = max(lower); var < min(upper); ++var).
struct Loop {
  VarId var;
  LoopKind kind = LoopKind::kSerial;
  std::vector<IndexExpr> lower;  // at least one; the greatest is the bound
  std::vector<IndexExpr> upper;  // at least one, exclusive; the least is the bound
  int unroll = 1;                // iterations in one trip of the emitted loop; 1 unless kSerial
  Body body;
};

/// A body that is executed only if all expressions in `nonnegative` are >= 0.
struct If {
  std::vector<IndexExpr> nonnegative;
  Body body;
};

/// One assignment: first the reads, then the values, then the writes. With a reducer, write k
/// stores combine[k](old values, values). Indices are logical, over loop variables and loaded
/// values.
struct Store {
  std::string statement;  // name of the statement whose instance this is, for messages and profiles
  std::vector<Read> reads;
  std::vector<Write> writes;
  std::vector<Expr> values;
  std::optional<Reducer> reducer;
  bool non_temporal = false;  // bypass the caches; ignored for unaligned addresses
};

/// A permutation of the 16-byte chunks of a storage. In row r of `row_bytes` bytes, chunk c is
/// stored at the offset of chunk c xor (r mod chunks). Threads that read the same chunk of at most
/// `chunks` consecutive rows then read different banks of shared memory. The indices of accesses do
/// not depend on the permutation.
struct Swizzle {
  static constexpr int kChunkBytes = 16;

  int chunks = 1;       // number of chunks that are permuted: 2, 4 or 8; 1: no chunk moves
  int row_bytes = 128;  // a power of two, at least chunks * 16
  bool MovesChunks() const { return chunks > 1; }
  bool operator==(const Swizzle&) const = default;
};

/// Storage of a kLocal tensor for the duration of the body. The emitter makes SSA values of small
/// kRegister storage whose indices are constants after unrolling. The last dimension may also use
/// the lane of a vector loop. On CUDA, variables of block loops may occur too: they select the
/// thread that owns the element. Other kRegister storage is memory of the thread. All threads of a
/// block share kShared storage. kFragment storage consists of registers of a warp's lanes. If a
/// warp executes the Tiles that accumulate into a fragment, their owner map assigns the elements to
/// lanes (tile_intrinsic.h).
///
/// Storage outside of block loops is one tensor for all threads of the block, unless it is
/// `per_thread`. Each thread then has a tensor of this shape, and only a Shuffle accesses the
/// tensor of another thread. A Tile of a warp may accumulate into per-thread registers instead of a
/// fragment. The last dimension then counts the elements that a lane owns, and the tile's index
/// `f[..., 0]` is the first of them.
struct Alloc {
  TensorId tensor;
  Scope scope = Scope::kPacked;
  int stages = 1;   // number of copies that are used in turn; the first dimension selects the copy
  Swizzle swizzle;  // kShared
  bool per_thread = false;  // only for kRegister and kPacked
  Body body;
};

struct Prefetch {
  Write address;
  int level = 1;  // cache level
  bool for_write = false;
};

/// A copy that completes at some time before the end of its Wait (cp.async). Before the end of the
/// Wait, no thread may write the source, and none may read or write the destination. Elements
/// outside a guard get the guard's value.
struct AsyncCopy {
  int token = 0;
  Read from;
  Write to;
  std::vector<int64_t> extent;  // extent of the copied sub-tensor, in the last dimensions of both
                                // tensors; empty: one element
};
/// The assignment of copies to a stage. The copies are those of the token that were issued since
/// the token's previous Arrive. There may be none.
struct Arrive {
  int token = 0;
  IndexExpr stage;
};
/// A wait for all copies that earlier Arrives assigned to a stage. The Arrives of a stage have
/// parities 0, 1, 0, ..., counted from the start of the Alloc of the tensor that the copies fill.
/// `parity` is the parity of the stage's last Arrive. Each thread waits only for its own copies; a
/// Barrier makes the copies visible to other threads.
struct Wait {
  int token = 0;
  IndexExpr stage;
  IndexExpr parity;
};

/// A barrier of all threads of the block. After the barrier, the earlier writes of every thread are
/// visible to the other threads.
struct Barrier {};

/// An exchange of private storage inside a warp. Each thread reads the element `from` of the thread
/// whose number along x differs in the bit `distance`. All threads of the block execute the
/// shuffle, so the shuffle must be the only node in loops over all threads.
struct Shuffle {
  Read from;
  Write to;
  VarId thread;          // variable of the loop over the threads along x
  int64_t distance = 1;  // a power of two, less than kWarpThreads
};

/// A group of threads in a block, with the work of this group alone (warp specialisation).
struct Role {
  std::string name;
  int threads = 0;
  int registers = 0;
  Body body;
};
struct Roles {
  std::vector<Role> roles;
};

/// One instruction on tiles; `intrinsic` names an entry of the table in tile_intrinsic.h. The body
/// gives the elements: the entry's loops, each from 0 to its extent, around one sum of products.
/// Rows are outermost and columns innermost. If the entry is for warps, all threads along x execute
/// the tile together, and their number is 32. Such a tile is outside of loops over x; loops over y
/// and z then number the warps.
struct Tile {
  std::string intrinsic;
  Body body;
};

/// A node of a loop nest. The special members are compiled once, in loop_nest.cc. They are large,
/// because they have a case for each alternative.
struct NestNode {
  template <class Kind>
  explicit NestNode(Kind node) : value(std::move(node)) {}
  NestNode(const NestNode& node);
  NestNode(NestNode&& node) noexcept;
  NestNode& operator=(const NestNode& node);
  NestNode& operator=(NestNode&& node) noexcept;
  ~NestNode();

  std::variant<Loop, If, Store, Alloc, Prefetch, AsyncCopy, Arrive, Wait, Barrier, Shuffle, Roles,
               Tile>
      value;
};

/// An outermost step of a loop nest. Phases run one after the other with a barrier between them. A
/// phase's body is a list of parts. Each part is a chain of parallel loops around other nodes. The
/// number of tasks of a part is the product of the chain's extents (1 without a chain). Tasks are
/// numbered through the parts in order, the innermost loop of the chain fastest. Without waves, the
/// tasks of a phase may run at the same time in any order.
///
/// Grid loops are parallel loops whose tasks are blocks of threads. Inside them, chains of block
/// loops number the threads. Thread i runs iteration i; the threads run at the same time, in any
/// order. A store or copy outside the block loop of an axis is run by the threads with number 0
/// along this axis. A thread waits for others only at a Barrier or, within its warp, at a Shuffle
/// or Tile.
///
/// A phase of one part may have wave loops around its parallel loops. Its tasks then run in waves,
/// with a barrier between consecutive waves.
struct Phase {
  std::string name;
  Body body;
};

/// The rounding of a reducer's sum of an accumulator and a product. kSeparate rounds the product
/// and the sum. kFused allows the target to round only the sum.
enum class Contraction : uint8_t { kSeparate, kFused };

struct LoopNest {
  std::string name;
  Tensors tensors;  // arguments are the tensors of role input, output, weight, in order
  IdVector<VarId, std::string> variables;  // the names of the loop variables; all different
  std::vector<Phase> phases;
  Contraction contraction = Contraction::kSeparate;  // kFused only if the creator of the nest
                                                     // allows it
};

/// Returns the number of tasks of one phase, over all its waves.
int64_t CountTasks(const Phase& phase);
/// Returns the number of waves; 1 without wave loops. Wave w starts at task w * CountTasks /
/// CountWaves.
int64_t CountWaves(const Phase& phase);
/// Returns whether a loop of this kind belongs to the chain at the top of a part of a phase. The
/// iterations of such a loop are tasks or waves.
constexpr bool NumbersTasks(LoopKind kind) {
  return kind == LoopKind::kParallel || kind == LoopKind::kWave || IsGrid(kind);
}

/// The number of blocks of a phase's wave along x, y, z, and of threads per block; 1 along axes
/// without a loop. The blocks of several parts are all numbered along x, part after part. Along
/// each axis, every block has the most threads that a block loop of the phase needs.
struct Launch {
  std::array<int64_t, 3> grid = {1, 1, 1};
  std::array<int64_t, 3> block = {1, 1, 1};
  int64_t Threads() const { return block[0] * block[1] * block[2]; }
};
Launch LaunchOf(const Phase& phase);
/// Returns whether the body contains a loop over the threads of a block, at any depth.
bool HoldsBlockLoop(const Body& body);

/// The placement of the workspace and local tensors of a kernel. Offsets are in bytes. They are
/// multiples of 64, and in shared storage of 128.
struct StoragePlan {
  IdVector<TensorId, int64_t> offset;  // offset in the workspace (kWorkspace) or in the storage of
                                       // the tensor's scope (kLocal, unless in registers); -1
                                       // otherwise
  IdVector<TensorId, Scope> scope;  // kShared in shared storage; kPacked or kGlobal in the scratch
  int64_t workspace_bytes = 0;      // bytes of the workspace, which all tasks share
  int64_t scratch_bytes = 0;        // bytes of the scratch, which each thread that runs tasks has
  std::vector<int64_t> shared_bytes;  // bytes of shared storage of a block of threads, by phase
};
StoragePlan PlanStorage(const LoopNest& nest);

/// Returns the ids of the tensors of role input, output and weight, in tensor order.
std::vector<TensorId> Arguments(const LoopNest& nest);

/// Returns whether both nests have the same text.
bool operator==(const LoopNest& a, const LoopNest& b);

std::string Print(const LoopNest& nest);
/// Returns the text of a swizzle in an Alloc, such as ` swizzle 8 of 128`. Returns an empty string
/// if no chunk moves.
std::string PrintSwizzle(const Swizzle& swizzle);
Result<LoopNest> ParseLoopNest(std::string_view text, std::string_view file_name);
/// Checks every invariant listed in verify_loop_nest.cc.
Status Verify(const LoopNest& nest);

/// The numbers of multiply-adds (multiply_add.h) that a nest executes in vector loops and in total.
/// Both are estimates if SampleInstances estimates.
struct MultiplyAdds {
  double vector = 0;
  double total = 0;
};
MultiplyAdds CountMultiplyAdds(const LoopNest& nest);

}  // namespace tunec
