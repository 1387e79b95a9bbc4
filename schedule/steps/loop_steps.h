// The steps that change a schedule tree.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/loop_nest.h"
#include "schedule/steps/step.h"

namespace tunec {

/// `split acc.i 2 14`: replaces loop acc.i by acc.i.0, acc.i.1 (2 iterations) and acc.i.2 (14). In
/// general, the factors need not divide the extent.
///   before: for i < 100
///   after:  for i.0 < 4 { for i.1 < 2 { for i.2 < 14 { i = 28*i.0 + 14*i.1 + i.2
struct SplitStep {
  static constexpr std::string_view kName = "split";
  std::string loop;
  std::vector<int64_t> factors;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kLoop, self.loop);
    visit(argument::kFactor, self.factors);
  }
  bool operator==(const SplitStep&) const = default;
};

/// `reorder acc.k acc.i acc.j`: sets the order of loops in one chain, outermost first. In a chain,
/// each loop is the only child of the loop before. Loops of the chain that are not named retain
/// their positions.
struct ReorderStep {
  static constexpr std::string_view kName = "reorder";
  std::vector<std::string> loops;
  static void Fields(auto& self, auto& visit) { visit(argument::kLoop, self.loops); }
  bool operator==(const ReorderStep&) const = default;
};

/// `fuse acc.n acc.i.0 as task`: fuses two nested loops into one.
///   before: for n < 3 { for i < 5 {      after: for task < 15 { n = task/5, i = task mod 5
struct FuseStep {
  static constexpr std::string_view kName = "fuse";
  std::string outer;
  std::string inner;
  std::string name;
  static void Fields(auto& self, auto& visit) {
    visit(StepArgument{"OUTER", "a loop"}, self.outer);
    visit(StepArgument{"INNER", "a loop"}, self.inner);
    visit(argument::kNewLoop, self.name);
  }
  bool operator==(const FuseStep&) const = default;
};

/// `skew A.i A.t 2 as A.x`: slants a loop relative to a second loop around the first's statements.
///   before: for t < 9 { for i < 50 {     after: for t < 9 { for x in 2*t .. 2*t + 50 { i = x - 2*t
struct SkewStep {
  static constexpr std::string_view kName = "skew";
  std::string loop;
  std::string by;
  int64_t factor = 1;
  std::string name;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kLoop, self.loop);
    visit(StepArgument{"BY", "a loop"}, self.by);
    visit(argument::kFactor, self.factor);
    visit(argument::kNewLoop, self.name);
  }
  bool operator==(const SkewStep&) const = default;
};

/// `peel acc.i 1 36`: generates separate code for the parts of the loop that begin at 0, 1 and 36.
///   before: for i < 37 { ...             after: i = 0: ...; for i in 1 .. 36 { ... } i = 36: ...
struct PeelStep {
  static constexpr std::string_view kName = "peel";
  std::string loop;
  std::vector<int64_t> points;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kLoop, self.loop);
    visit(StepArgument{"ITERATION", "an iteration"}, self.points);
  }
  bool operator==(const PeelStep&) const = default;
};

/// `distribute acc.i`: replaces a loop around a sequence by one loop around each part.
///   before: for i { a; b; }              after: for i { a; } for i { b; }
struct DistributeStep {
  static constexpr std::string_view kName = "distribute";
  std::string loop;
  static void Fields(auto& self, auto& visit) { visit(argument::kLoop, self.loop); }
  bool operator==(const DistributeStep&) const = default;
};

/// `unroll_jam acc.i 4`: splits the loop into groups of four iterations, and unrolls each group
/// inside the serial loops below.
///   before: for i < 8 { for k {          after: for i.0 < 2 { for k { i.1 = 0, 1, 2, 3
struct UnrollJamStep {
  static constexpr std::string_view kName = "unroll_jam";
  std::string loop;
  int64_t factor = 1;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kLoop, self.loop);
    visit(argument::kFactor, self.factor);
  }
  bool operator==(const UnrollJamStep&) const = default;
};

/// `swizzle acc.i.0 acc.j.0 4`: runs two nested loops in bands of four iterations of the outer
/// loop. In a band, iterations that follow each other differ little in both loops.
///   before: for i < 8 { for j < 9 {      after: for i.0 < 2 { for j < 9 { for i.1 < 4 {
struct SwizzleStep {
  static constexpr std::string_view kName = "swizzle";
  std::string outer;
  std::string inner;
  int64_t factor = 1;
  static void Fields(auto& self, auto& visit) {
    visit(StepArgument{"OUTER", "a loop"}, self.outer);
    visit(StepArgument{"INNER", "a loop"}, self.inner);
    visit(argument::kFactor, self.factor);
  }
  bool operator==(const SwizzleStep&) const = default;
};

/// `isolate acc.i.0`: generates separate code, if possible, for the iterations in which no
/// condition on the loop can fail. This code has no such conditions.
struct IsolateStep {
  static constexpr std::string_view kName = "isolate";
  std::string loop;
  static void Fields(auto& self, auto& visit) { visit(argument::kLoop, self.loop); }
  bool operator==(const IsolateStep&) const = default;
};

/// `unroll acc.k 4`: runs four iterations per trip. `unroll acc.k`: unrolls all iterations.
struct UnrollStep {
  static constexpr std::string_view kName = "unroll";
  std::string loop;
  int factor = 0;  // 0: all
  static void Fields(auto& self, auto& visit) {
    visit(argument::kLoop, self.loop);
    visit(StepArgument{.name = "FACTOR", .expected = "a factor", .may_lack = true}, self.factor);
  }
  bool operator==(const UnrollStep&) const = default;
};

/// The default limit of a vector loop's length, in lanes: four of the longest vectors of f32. The
/// code of a vector loop has instructions for all its vectors, so a longer loop is split.
inline constexpr int64_t kLongestVectorLoop = 64;

/// `vectorize acc.j.1`: maps the loop's iterations to the lanes of vectors.
struct VectorizeStep {
  static constexpr std::string_view kName = "vectorize";
  std::string loop;
  static void Fields(auto& self, auto& visit) { visit(argument::kLoop, self.loop); }
  bool operator==(const VectorizeStep&) const = default;
};

/// `parallelize acc.n`: maps the loop's iterations to tasks of the phase.
struct ParallelizeStep {
  static constexpr std::string_view kName = "parallelize";
  std::string loop;
  static void Fields(auto& self, auto& visit) { visit(argument::kLoop, self.loop); }
  bool operator==(const ParallelizeStep&) const = default;
};

/// `storage_order B.pack 64`: makes the loops of a statement walk the written tensor in storage
/// order. The innermost loop becomes a vector loop of at most 64 lanes. Of several loops, the
/// outermost one becomes tasks. Sketches add this step for copies.
///   before: for d0 < 29 { for d1 < 13 {      stored as [floor(d1/8), d0, d1 mod 8]
///   after:  parallel for d1.0 < 2 { for d0 < 29 { vector for d1.1 < 8 {
struct StorageOrderStep {
  static constexpr std::string_view kName = "storage_order";
  std::string statement;
  int64_t lanes = 1;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kStatement, self.statement);
    visit(
        StepArgument{
            .name = "LANES", .expected = "a number of lanes", .least = 1, .most = int64_t{1} << 12},
        self.lanes);
  }
  bool operator==(const StorageOrderStep&) const = default;
};

/// `bind acc.i.0 grid.y`: maps the loop's iterations to blocks of threads along an axis of the
/// grid. `block.x`, `block.y` and `block.z` map them to threads along an axis of a block.
///   before: for i.0 < 3 { for i.1 < 16 {   after: grid.y for i.0 < 3 { block.x for i.1 < 16 {
struct BindStep {
  static constexpr std::string_view kName = "bind";
  std::string loop;
  LoopKind kind = LoopKind::kGridX;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kLoop, self.loop);
    visit(StepArgument{"grid.x|grid.y|grid.z|block.x|block.y|block.z", "grid.x to block.z"},
          self.kind);
  }
  bool operator==(const BindStep&) const = default;
};

/// `pipeline acc.k.0 3`: gives three stages to the storage that copies fill in each iteration of
/// the loop. The copy for an iteration begins two iterations before its use.
///   before: for k { s = x[k]; use s }
///   after:  begin s.0 = x[0]; begin s.1 = x[1]
///           for k { wait for s.(k mod 3); begin s.(k+2 mod 3) = x[k+2]; use s.(k mod 3) }
struct PipelineStep {
  static constexpr std::string_view kName = "pipeline";
  std::string loop;
  int stages = 2;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kLoop, self.loop);
    visit(StepArgument{"STAGES", "a number of stages"}, self.stages);
  }
  bool operator==(const PipelineStep&) const = default;
};

/// `wavefront A.w`: runs the tasks of each iteration of the loop after those of the previous
/// iteration, with a barrier between. Loops directly inside can become tasks.
struct WavefrontStep {
  static constexpr std::string_view kName = "wavefront";
  std::string loop;
  static void Fields(auto& self, auto& visit) { visit(argument::kLoop, self.loop); }
  bool operator==(const WavefrontStep&) const = default;
};

/// `prefetch B acc.k 8`: prefetches the element of the tensor that a statement in the loop will
/// access eight iterations later. `prefetch B acc.k 8 level 2` loads the element into the
/// second-level cache, but not into the first.
///   before: for k { acc += A[k]*B[k]     after: for k { prefetch B[k + 8]; acc += A[k]*B[k]
struct PrefetchStep {
  static constexpr std::string_view kName = "prefetch";
  std::string tensor;
  std::string loop;
  int64_t distance = 1;
  int level = 0;  // level of the cache; 0: the first
  static void Fields(auto& self, auto& visit) {
    visit(argument::kTensor, self.tensor);
    visit(argument::kLoop, self.loop);
    visit(StepArgument{"DISTANCE", "a number of iterations"}, self.distance);
    visit(StepArgument{.name = "LEVEL",
                       .expected = "a cache level",
                       .after = "level",
                       .may_lack = true,
                       .least = 1,
                       .most = 3},
          self.level);
  }
  bool operator==(const PrefetchStep&) const = default;
};

/// `compute_at y acc.j.0`: moves the statement into a loop around another statement. The position
/// in the loop's body follows the original order of statements. Below the loop, the moved statement
/// gets copies of the other statement's loops over iterators that the shared tensor makes equal.
/// Loops over the remaining iterators of the moved statement follow.
struct ComputeAtStep {
  static constexpr std::string_view kName = "compute_at";
  std::string statement;
  std::string loop;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kStatement, self.statement);
    visit(argument::kLoop, self.loop);
  }
  bool operator==(const ComputeAtStep&) const = default;
};

/// `reverse_compute_at y acc.j.0`: compute_at for a consumer only. Fails if the loop contains a
/// statement that comes after the moved one.
struct ReverseComputeAtStep {
  static constexpr std::string_view kName = "reverse_compute_at";
  std::string statement;
  std::string loop;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kStatement, self.statement);
    visit(argument::kLoop, self.loop);
  }
  bool operator==(const ReverseComputeAtStep&) const = default;
};

/// `stage acc register acc.j.0`: gives each iteration of the loop separate storage for the tensor,
/// of the size that one iteration touches. `stage t packed acc.i.0 1 0` also sets the order of the
/// tensor's dimensions in this storage, the innermost last. By default the dimension of the
/// innermost loop comes last.
struct StageStep {
  static constexpr std::string_view kName = "stage";
  std::string tensor;
  Scope scope = Scope::kRegister;
  std::string loop;
  std::vector<int64_t> order = {};
  static void Fields(auto& self, auto& visit) {
    visit(argument::kTensor, self.tensor);
    visit(StepArgument{"SCOPE", "a scope"}, self.scope);
    visit(argument::kLoop, self.loop);
    visit(StepArgument{.name = "DIMENSION", .expected = "a dimension", .may_lack = true},
          self.order);
  }
  bool operator==(const StageStep&) const = default;
};

/// `swizzle_storage A.copy 8`: permutes the 16-byte chunks within groups of eight in each row of a
/// staged tensor's shared storage (Swizzle, ir/loop_nest.h). A row is the tensor's last dimension;
/// rows shorter than 128 bytes are combined.
///   before: chunk c of row r at c          after: at c xor (r mod 8)
struct SwizzleStorageStep {
  static constexpr std::string_view kName = "swizzle_storage";
  std::string tensor;
  int chunks = 8;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kTensor, self.tensor);
    visit(StepArgument{"CHUNKS", "a number of chunks"}, self.chunks);
  }
  bool operator==(const SwizzleStorageStep&) const = default;
};

/// `tensorize acc.j.1 dpbf16.avx512`: replaces a chain of loops by one instruction of
/// ir/tile_intrinsic.h. Only complete tiles are replaced.
///   before: for j.1 < 16 { for k.1 < 2 { acc[.., j.1] sum= A[.., k.1] * B[.., j.1, k.1]
///   after:  tile dpbf16.avx512: acc[.., 0..15] sum= A[.., 0..1] * B[.., 0..15, 0..1]
struct TensorizeStep {
  static constexpr std::string_view kName = "tensorize";
  std::string loop;
  std::string intrinsic;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kLoop, self.loop);
    visit(StepArgument{"INTRINSIC", "an intrinsic"}, self.intrinsic);
  }
  bool operator==(const TensorizeStep&) const = default;
};

/// `non_temporal y`: makes the statement's stores bypass the caches where possible.
struct NonTemporalStep {
  static constexpr std::string_view kName = "non_temporal";
  std::string statement;
  static void Fields(auto& self, auto& visit) { visit(argument::kStatement, self.statement); }
  bool operator==(const NonTemporalStep&) const = default;
};

using LoopStepVariant =
    std::variant<SplitStep, ReorderStep, FuseStep, SkewStep, PeelStep, DistributeStep,
                 UnrollJamStep, SwizzleStep, IsolateStep, UnrollStep, VectorizeStep,
                 ParallelizeStep, StorageOrderStep, BindStep, PipelineStep, WavefrontStep,
                 PrefetchStep, ComputeAtStep, ReverseComputeAtStep, StageStep, SwizzleStorageStep,
                 TensorizeStep, NonTemporalStep>;

/// A step that changes the schedule tree.
using LoopStep = AnyStepOf<LoopStepVariant>;

}  // namespace tunec
