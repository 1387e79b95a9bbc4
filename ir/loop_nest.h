// A LoopNest says how: explicit loops, storage and stores, nothing left to decide. It is
// what code generators read; they know no operator and no schedule. Everything in it can
// be printed, parsed (text), verified and interpreted.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/compute.h"

namespace tunec {

enum class LoopKind : uint8_t {
  kSerial,
  kParallel,  // only in an unbroken chain at the top of a phase, bounds constant: the tasks
  kVector,    // innermost; lanes step 1; iterations independent or a horizontal reduction
  kUnrolled,  // fully; the range is bounded by constants
  kGridX,     // blocks of threads: tasks, in a chain as parallel loops
  kGridY,
  kGridZ,
  kBlockX,  // the threads of a block; the value is the thread's number along the axis
  kBlockY,
  kBlockZ,
  kWarp,
  kWave,  // around a phase's parallel loops, bounds constant: one iteration's tasks after another's
};

constexpr bool IsGrid(LoopKind kind) {
  return kind == LoopKind::kGridX || kind == LoopKind::kGridY || kind == LoopKind::kGridZ;
}
constexpr bool IsBlock(LoopKind kind) {
  return kind == LoopKind::kBlockX || kind == LoopKind::kBlockY || kind == LoopKind::kBlockZ;
}
/// 0, 1, 2 for x, y, z. Requires: IsBlock.
constexpr size_t BlockAxis(LoopKind kind) {
  return static_cast<size_t>(kind) - static_cast<size_t>(LoopKind::kBlockX);
}

/// Threads of a block at most, over all axes: what every CUDA device allows.
inline constexpr int64_t kMostBlockThreads = 1024;
/// Threads of a block, counted with x fastest, that a device runs in step: they read each other's
/// registers.
inline constexpr int64_t kWarpThreads = 32;
/// Copies of its body that a loop may be unrolled into.
inline constexpr int64_t kMostUnrolled = 4096;

enum class Scope : uint8_t { kGlobal, kPacked, kShared, kRegister, kTile, kFragment };

/// Whether each thread of a block has such storage for itself.
constexpr bool IsPrivate(Scope scope) {
  return scope == Scope::kRegister || scope == Scope::kPacked || scope == Scope::kFragment;
}

struct NestNode;
using Body = std::vector<NestNode>;

/// for (var = max(lower); var < min(upper); ++var)
struct Loop {
  VarId var;
  LoopKind kind = LoopKind::kSerial;
  std::vector<IndexExpr> lower;  // at least one; the greatest counts
  std::vector<IndexExpr> upper;  // at least one, exclusive; the least counts
  int unroll = 1;                // kSerial: how many iterations the emitter puts in one trip
  Body body;
};

/// Runs the body where all conditions are >= 0.
struct If {
  std::vector<IndexExpr> nonnegative;
  Body body;
};

/// One instance of a statement: reads, values, then writes; with a reducer,
/// write k = combine[k](old values, values). Indices are logical, over loop variables.
struct Store {
  std::string statement;  // the statement it came from, for messages and profiles
  std::vector<Read> reads;
  std::vector<Write> writes;
  std::vector<Expr> values;
  std::optional<Reducer> reducer;
  bool non_temporal = false;  // bypass the caches; ignored where unaligned
};

/// Where the chunks of 16 bytes of a storage lie: of row r, so many bytes, chunk c lies at the
/// place of chunk c xor (r mod chunks). Threads that read one chunk of several rows then read
/// different banks of shared memory. Whoever accesses the tensor does not know.
struct Swizzle {
  static constexpr int kChunkBytes = 16;

  int chunks = 1;       // that change places: 2, 4 or 8; 1: none do
  int row_bytes = 128;  // a power of two, at least chunks * 16
  bool Moves() const { return chunks > 1; }
  bool operator==(const Swizzle&) const = default;
};

/// Storage of a kLocal tensor for the duration of the body. kRegister is SSA in the emitter where,
/// after unrolling, all its indices are constants but for the lane of one vector loop in the
/// last dimension, and for the variables of block loops, which pick the thread that has the
/// element; where other variables index it, it is memory of the thread. kShared belongs to all
/// threads of a block. kFragment is registers, too: those of a warp's lanes, of which each has the
/// elements that the owner map of the Tiles that add to it says (tile_intrinsic.h).
struct Alloc {
  TensorId tensor;
  Scope scope = Scope::kPacked;
  int stages = 1;   // copies of it that take turns, by the tensor's first dimension
  Swizzle swizzle;  // kShared
  Body body;
};

struct Prefetch {
  Write address;
  int level = 1;  // cache level
  bool for_write = false;
};

/// A copy that completes at some time before the Wait for it ends (cp.async, TMA). Until then
/// neither its source is written nor its destination touched. A guard puts its value outside.
struct AsyncCopy {
  int token = 0;
  Read from;
  Write to;
  std::vector<int64_t> extent;  // of the box that is copied, in the last dimensions of both; none:
                                // one element
};
/// The copies of the token that were issued since its last Arrive are those of this stage; there
/// may be none.
struct Arrive {
  int token = 0;
  IndexExpr stage;
};
/// Waits for the copies of the last Arrive of a stage. Counted from the Alloc that the copies
/// fill, a stage's Arrives have parities 0, 1, 0, ...; `parity` is that of the awaited one. Each
/// thread waits for the copies that it issued: that others see them takes a Barrier.
struct Wait {
  int token = 0;
  IndexExpr stage;
  IndexExpr parity;
};

/// All threads of the block come here before any goes on, and see what the others wrote.
struct Barrier {};

/// Each thread reads what another of its warp has in private storage: the one whose number along x
/// differs in the bit `distance`, where `from` is its element. All threads of the block do so at
/// the same time: a shuffle stands alone in loops over all of them.
struct Shuffle {
  Read from;
  Write to;
  VarId thread;          // of the loop over the threads along x
  int64_t distance = 1;  // a power of two, less than kWarpThreads
};

/// Groups of threads with different work (warp specialisation).
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
/// says which elements: the entry's loops, each from 0 to its extent, rows outermost and columns
/// innermost, around one sum of products. Their order means nothing. An entry for warps is executed
/// by all threads along x, of which there are 32: it stands outside of loops over them, and the
/// numbers along y and z are those of warps.
struct Tile {
  std::string intrinsic;
  Body body;
};

struct NestNode {
  std::variant<Loop, If, Store, Alloc, Prefetch, AsyncCopy, Arrive, Wait, Barrier, Shuffle, Roles,
               Tile>
      value;
};

/// Phases run one after the other with a barrier between them (a launch each on CUDA).
/// A phase's body is a list of parts; each part is a chain of parallel loops around a
/// serial nest, and is worth the product of their extents in tasks (1 without any). Task t
/// counts through the parts in order, the innermost parallel loop fastest. Tasks of one
/// phase may run at the same time in any order. Grid loops are parallel loops whose tasks are
/// blocks of threads: inside them, the iterations of a chain of block loops are run by the threads
/// of these numbers, at the same time in any order, and anything outside a block loop of an axis
/// by the threads that are 0 along it. A thread does its part of the next node without waiting for
/// others, but for a Barrier or, within its warp, a Shuffle. A phase of one part may have wave
/// loops around its parallel ones: its tasks then come in waves, with a barrier between two of
/// them.
struct Phase {
  std::string name;
  Body body;
};

/// Whether a*b + c in a sum may be rounded once.
enum class Contraction : uint8_t { kSeparate, kFused };

struct LoopNest {
  std::string name;
  Tensors tensors;  // arguments are those of role input, output, weight, in order
  IdVector<VarId, std::string> variables;  // the names of the loop variables; all different
  std::vector<Phase> phases;
  Contraction contraction = Contraction::kSeparate;  // whoever makes a nest may allow more
};

/// Tasks of one phase, those of all its waves.
int64_t CountTasks(const Phase& phase);
/// Its waves, 1 without wave loops. Wave w has the tasks from w * CountTasks / CountWaves on.
int64_t CountWaves(const Phase& phase);
/// Whether a loop of this kind is part of the chain at the top of a phase, and numbers its tasks.
constexpr bool NumbersTasks(LoopKind kind) {
  return kind == LoopKind::kParallel || kind == LoopKind::kWave || IsGrid(kind);
}

/// How many blocks a phase starts along x, y, z, and threads each: 1 along axes without a loop. The
/// blocks of several parts stand one after the other along x, and have as many threads as the
/// largest.
struct Launch {
  std::array<int64_t, 3> grid = {1, 1, 1};
  std::array<int64_t, 3> block = {1, 1, 1};
  int64_t Threads() const { return block[0] * block[1] * block[2]; }
};
Launch LaunchOf(const Phase& phase);
/// Whether loops over threads occur in the body.
bool HoldsBlockLoop(const Body& body);

/// Where the kernel's own tensors lie. Offsets are bytes, multiples of 64, in shared storage of
/// 128.
struct StoragePlan {
  IdVector<TensorId, int64_t> offset;  // into the workspace (kWorkspace) or into its scope's
                                       // storage (kLocal, not in registers); -1 otherwise
  IdVector<TensorId, Scope> scope;     // kShared or, in the scratch, kPacked and kGlobal
  int64_t workspace_bytes = 0;         // shared by all tasks
  int64_t scratch_bytes = 0;           // one for each thread that runs tasks
  std::vector<int64_t> shared_bytes;   // per phase, for each block of its threads
};
StoragePlan PlanStorage(const LoopNest& nest);

/// The arguments: ids of the tensors of role input, output and weight, in order.
std::vector<TensorId> Arguments(const LoopNest& nest);

/// Structural equality, by text.
bool operator==(const LoopNest& a, const LoopNest& b);

std::string Print(const LoopNest& nest);
/// ` swizzle 8 of 128`, as an Alloc prints it; nothing where no chunk moves.
std::string PrintSwizzle(const Swizzle& swizzle);
Result<LoopNest> ParseLoopNest(std::string_view text, std::string_view file_name);
/// Checks every invariant listed in verify_loop_nest.cc.
Status Verify(const LoopNest& nest);

/// Multiply-adds (of sums of products) executed in vector loops and in all.
struct MultiplyAdds {
  double vector = 0;
  double total = 0;
};
MultiplyAdds CountMultiplyAdds(const LoopNest& nest);

}  // namespace tunec
