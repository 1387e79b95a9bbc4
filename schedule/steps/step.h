// The steps of a schedule. Each is a value: literal arguments, equality, a one-line text.
// Compute steps come first and rewrite the statements; tree steps then shape the loops.
// A step checks only that it makes sense (its names exist, its numbers are positive);
// whether the result is allowed is decided once, by the dependences (polyhedral/legality.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/loop_nest.h"
#include "support/error.h"

namespace tunec {

// ---- Compute -> Compute

/// `pack w0 1/32 0 1%32`: a copy of a tensor in another storage order, and all readers moved
/// to it. Each storage dimension is a logical dimension, by number, or its quotient or remainder
/// by a factor. A copy of weights is made once, when compiling. A workspace tensor is stored so
/// without a copy.
///   before: acc[i,j] sum= x[i,k] * w0[k,j]
///   after:  w0.pack[k,j] = w0[k,j]; acc[i,j] sum= x[i,k] * w0.pack[k,j]
struct PackStep {
  enum class Part : uint8_t { kWhole, kQuotient, kRemainder };
  struct Axis {
    int dimension = 0;
    Part part = Part::kWhole;
    int64_t factor = 1;
    bool operator==(const Axis&) const = default;
  };
  std::string tensor;
  std::vector<Axis> axes;
  bool operator==(const PackStep&) const = default;
};

/// `copy x acc j 64`: a copy of a tensor, for each 64 values of j its own, and the statement's
/// reads moved to it: what `stage` can put into storage near its use, tile by tile.
///   before: acc[i,j] sum= x[i,k] * w[k,j]
///   after:  x.copy[p,i,k] = x[i,k]; acc[i,j] sum= x.copy[j/64,i,k] * w[k,j]
struct CopyStep {
  struct Group {
    std::string iterator;
    int64_t factor = 1;
    bool operator==(const Group&) const = default;
  };
  std::string tensor;
  std::string statement;
  std::vector<Group> groups;
  bool operator==(const CopyStep&) const = default;
};

/// `cache_write C`: a reduction accumulates in workspace of its own, and a statement after it
/// stores the results.
///   before: C[i,j] sum= A[i,k] * B[k,j]
///   after:  C.cache[i,j] sum= A[i,k] * B[k,j]; C[i,j] = C.cache[i,j]
struct CacheWriteStep {
  std::string statement;
  bool operator==(const CacheWriteStep&) const = default;
};

/// `index_split y i 1 36`: a statement becomes one for each part of an iterator's values, the parts
/// beginning at these; each is scheduled by itself.
///   before: y[i] = ... for i < 37
///   after:  y.part0 for i < 1; y.part1 for i < 35: i + 1; y.part2 for i < 1: i + 36
struct IndexSplitStep {
  std::string statement;
  std::string iterator;
  std::vector<int64_t> points;
  bool operator==(const IndexSplitStep&) const = default;
};

/// `reduce_split s r0 64 inner`: a reduction over r becomes partial reductions, one for each
/// value of r mod 64 (inner) or floor(r/64) (outer), and a reduction over those.
///   before: s[i] max= x[i,r]
///   after:  s.part[i,p] max= x[i,64*r' + p]; s[i] max= s.part[i,p]
struct ReduceSplitStep {
  enum class Keep : uint8_t { kInner, kOuter };
  std::string statement;
  std::string iterator;
  int64_t factor = 1;
  Keep keep = Keep::kInner;
  bool operator==(const ReduceSplitStep&) const = default;
};

/// `inline t`: the statement's value is computed where it is read, and the statement goes.
///   before: t[i] = exp(x[i]); y[i] = t[i] + 1.0
///   after:  y[i] = exp(x[i]) + 1.0
struct InlineStep {
  std::string statement;
  bool operator==(const InlineStep&) const = default;
};

/// `precision acc bf16 3`: a float32 sum of products over operands that are sums of one to three
/// bfloat16 terms, accumulated in float32. The accuracy contract says how many it takes.
///   before: acc[i,j] sum= A[i,k] * B[k,j]
///   after:  A.bf16[0..3,i,k] = terms of A[i,k]; B.bf16[0..3,k,j] = terms of B[k,j]
///           acc[i,j] sum= f32(A.bf16[.,i,k]) * f32(B.bf16[.,k,j])      for six products of terms
struct PrecisionStep {
  std::string statement;
  int terms = 3;
  bool operator==(const PrecisionStep&) const = default;
};

/// `widen A acc`: the statement, which reads A cast to a wider type, reads a tensor of that type,
/// which is made of A just before; of a constant once, when compiling. A workspace tensor becomes
/// one of that type without a copy.
///   before: acc[i,j] sum= f32(A[i,k]) * f32(B[k,j])
///   after:  A.wide[i,k] = f32(A[i,k]); acc[i,j] sum= A.wide[i,k] * f32(B[k,j])
struct WidenStep {
  std::string tensor;
  std::string statement;
  bool operator==(const WidenStep&) const = default;
};

// ---- tree -> tree

/// `split acc.i 2 14`: loop acc.i becomes acc.i.0, acc.i.1 (2 iterations), acc.i.2 (14).
/// Factors need not divide.
///   before: for i < 100          after: for i.0 < 4 { for i.1 < 2 { for i.2 < 14 { i = 28*i.0 +
///   ...
struct SplitStep {
  std::string loop;
  std::vector<int64_t> factors;
  bool operator==(const SplitStep&) const = default;
};

/// `reorder acc.k acc.i acc.j`: loops of one chain, each the only child of the one before, in
/// the new order, outermost first; loops of the chain that are not named keep their places.
struct ReorderStep {
  std::vector<std::string> loops;
  bool operator==(const ReorderStep&) const = default;
};

/// `fuse acc.n acc.i.0 as task`: two nested loops become one.
///   before: for n < 3 { for i < 5 {      after: for task < 15 { n = task/5, i = task mod 5
struct FuseStep {
  std::string outer;
  std::string inner;
  std::string name;
  bool operator==(const FuseStep&) const = default;
};

/// `skew A.i A.t 2 as A.x`: a loop runs slanted to another that its statements share.
///   before: for t < 9 { for i < 50 {     after: for t < 9 { for x in 2*t .. 2*t + 50 { i = x - 2*t
struct SkewStep {
  std::string loop;
  std::string by;
  int64_t factor = 1;
  std::string name;
  bool operator==(const SkewStep&) const = default;
};

/// `peel acc.i 1 36`: the loop in parts that begin at these values, generated apart.
///   before: for i < 37 { ...             after: i = 0: ...; for i in 1 .. 36 { ... } i = 36: ...
struct PeelStep {
  std::string loop;
  std::vector<int64_t> points;
  bool operator==(const PeelStep&) const = default;
};

/// `distribute acc.i`: a loop around several statements becomes a loop around each.
///   before: for i { a; b; }              after: for i { a; } for i { b; }
struct DistributeStep {
  std::string loop;
  bool operator==(const DistributeStep&) const = default;
};

/// `unroll_jam acc.i 4`: groups of four iterations run inside the other loops of the chain,
/// unrolled.
///   before: for i < 8 { for k {          after: for i.0 < 2 { for k { i.1 = 0, 1, 2, 3
struct UnrollJamStep {
  std::string loop;
  int64_t factor = 1;
  bool operator==(const UnrollJamStep&) const = default;
};

/// `swizzle acc.i.0 acc.j.0 4`: two nested loops in bands of four iterations of the outer one, so
/// that iterations near in time are near in both.
///   before: for i < 8 { for j < 9 {      after: for i.0 < 2 { for j < 9 { for i.1 < 4 {
struct SwizzleStep {
  std::string outer;
  std::string inner;
  int64_t factor = 1;
  bool operator==(const SwizzleStep&) const = default;
};

/// `isolate acc.i.0`: iterations whose conditions can't fail are generated apart.
struct IsolateStep {
  std::string loop;
  bool operator==(const IsolateStep&) const = default;
};

/// `unroll acc.k 4`: four iterations a trip; `unroll acc.k`: all.
struct UnrollStep {
  std::string loop;
  int factor = 0;  // 0: all
  bool operator==(const UnrollStep&) const = default;
};

/// `vectorize acc.j.1`: the loop's iterations become the lanes of vectors.
struct VectorizeStep {
  std::string loop;
  bool operator==(const VectorizeStep&) const = default;
};

/// `parallelize acc.n`: the loop's iterations become tasks of the phase.
struct ParallelizeStep {
  std::string loop;
  bool operator==(const ParallelizeStep&) const = default;
};

/// `bind acc.i.0 grid.y`: the loop's iterations become blocks of threads, or with `block.x` the
/// threads of a block.
///   before: for i.0 < 3 { for i.1 < 16 {   after: grid.y for i.0 < 3 { block.x for i.1 < 16 {
struct BindStep {
  std::string loop;
  LoopKind kind = LoopKind::kGridX;
  bool operator==(const BindStep&) const = default;
};

/// `pipeline acc.k.0 3`: what the loop copies into storage of each iteration is copied into one of
/// three, begun two iterations before it is used.
///   before: for k { s = x[k]; use s }
///   after:  begin s.0 = x[0]; begin s.1 = x[1]
///           for k { wait for s.(k mod 3); begin s.(k+2 mod 3) = x[k+2]; use s.(k mod 3) }
struct PipelineStep {
  std::string loop;
  int stages = 2;
  bool operator==(const PipelineStep&) const = default;
};

/// `wavefront A.w`: the tasks of one iteration of the loop run after those of the one before, with
/// a barrier between; the loops directly inside can be parallel.
struct WavefrontStep {
  std::string loop;
  bool operator==(const WavefrontStep&) const = default;
};

/// `prefetch B acc.k 8`: beside each access to the tensor inside the loop, what the same statement
/// will touch eight iterations later is asked for.
///   before: for k { acc += A[k]*B[k]     after: for k { prefetch B[k + 8]; acc += A[k]*B[k]
struct PrefetchStep {
  std::string tensor;
  std::string loop;
  int64_t distance = 1;
  bool operator==(const PrefetchStep&) const = default;
};

/// `compute_at y acc.j.0`: the statement moves into a loop of another, before it if it is its
/// producer (or initialisation), else after it; its own loops below are that one's, as far as
/// the tensor between them relates the iterators, then its remaining iterators.
struct ComputeAtStep {
  std::string statement;
  std::string loop;
  bool operator==(const ComputeAtStep&) const = default;
};

/// `reverse_compute_at y acc.j.0`: compute_at for a consumer only. Refused where something inside
/// the loop comes after the statement.
struct ReverseComputeAtStep {
  std::string statement;
  std::string loop;
  bool operator==(const ReverseComputeAtStep&) const = default;
};

/// `stage acc register acc.j.0`: each iteration of the loop has its own storage for the
/// tensor, of the size that one iteration touches. `stage t packed acc.i.0 1 0` says in which order
/// its dimensions are stored, the innermost last; else that is the order in which loops walk them.
struct StageStep {
  std::string tensor;
  Scope scope = Scope::kRegister;
  std::string loop;
  std::vector<int64_t> order = {};
  bool operator==(const StageStep&) const = default;
};

/// `tensorize acc.j.1 dpbf16.avx512`: the loop and those inside it are one instruction of
/// ir/tile_intrinsic.h, where all of their iterations run.
///   before: for j.1 < 16 { for k.1 < 2 { acc[.., j.1] sum= A[.., k.1] * B[.., j.1, k.1]
///   after:  tile dpbf16.avx512: acc[.., 0..15] sum= A[.., 0..1] * B[.., 0..15, 0..1]
struct TensorizeStep {
  std::string loop;
  std::string intrinsic;
  bool operator==(const TensorizeStep&) const = default;
};

/// `non_temporal y`: the statement's stores bypass the caches.
struct NonTemporalStep {
  std::string statement;
  bool operator==(const NonTemporalStep&) const = default;
};

using ScheduleStep =
    std::variant<PackStep, ReduceSplitStep, InlineStep, PrecisionStep, SplitStep, ReorderStep,
                 FuseStep, IsolateStep, UnrollStep, VectorizeStep, ParallelizeStep, ComputeAtStep,
                 StageStep, NonTemporalStep, SkewStep, PeelStep, DistributeStep, UnrollJamStep,
                 SwizzleStep, WavefrontStep, PrefetchStep, ReverseComputeAtStep, BindStep, CopyStep,
                 PipelineStep, IndexSplitStep, TensorizeStep, CacheWriteStep, WidenStep>;

bool IsComputeStep(const ScheduleStep& step);

/// A replayable list of steps applied to one lowering. Its text is what the database keeps:
/// `lower direct` and a line for each step.
struct Schedule {
  std::string lowering;
  std::vector<ScheduleStep> steps;
  bool operator==(const Schedule&) const = default;
};

/// The version of the language; part of the database's keys.
inline constexpr int kScheduleVersion = 1;

std::string Print(const ScheduleStep& step);
std::string Print(const Schedule& schedule);
Result<Schedule> ParseSchedule(std::string_view text, std::string_view file_name);

}  // namespace tunec
