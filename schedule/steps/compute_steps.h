// The steps that rewrite a Compute's statements. They come before all steps that change loops.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schedule/steps/step.h"

namespace tunec {

/// An argument of `copy` and `pad`: an iterator and a group size or a multiple.
struct IteratorFactor {
  std::string iterator;
  int64_t factor = 1;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kIterator, self.iterator);
    visit(argument::kFactor, self.factor);
  }
  bool operator==(const IteratorFactor&) const = default;
};

/// `pack w0 1/32 0 1%32`: makes a copy of a tensor in another storage order, and redirects all
/// readers to the copy. Each storage dimension is a logical dimension, by number, or a part of it:
/// its quotient or remainder by a factor, or a part between two factors (`1/32 ... 1%32/2 ...
/// 1%2`). A copy of weights is made once, at compile time. A workspace tensor is itself stored in
/// the order, without a copy.
///   before: acc[i,j] sum= x[i,k] * w0[k,j]
///   after:  w0.pack[k,j] = w0[k,j]; acc[i,j] sum= x[i,k] * w0.pack[k,j]
struct PackStep {
  static constexpr std::string_view kName = "pack";
  enum class Part : uint8_t { kWhole, kQuotient, kRemainder, kMiddle };
  struct Axis {
    int dimension = 0;
    Part part = Part::kWhole;
    int64_t factor = 1;
    int64_t of = 0;  // kMiddle: the part is floor((index mod `of`) / `factor`)
    bool operator==(const Axis&) const = default;
  };
  std::string tensor;
  std::vector<Axis> axes;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kTensor, self.tensor);
    visit(StepArgument{.name = "AXIS", .expected = "an axis", .may_lack = true}, self.axes);
  }
  bool operator==(const PackStep&) const = default;
};

/// `copy x acc j 64`: makes a copy of a tensor for each group of 64 values of j, and redirects the
/// statement's reads to the copies. `stage` can then store a copy near its use, tile by tile. If an
/// index of x is linear in j, a copy may contain only the window of x that its group may read.
///   before: acc[i,j] sum= x[i,k] * w[k,j]
///   after:  x.copy[p,i,k] = x[i,k]; acc[i,j] sum= x.copy[j/64,i,k] * w[k,j]
struct CopyStep {
  static constexpr std::string_view kName = "copy";
  using Group = IteratorFactor;
  std::string tensor;
  std::string statement;
  std::vector<Group> groups;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kTensor, self.tensor);
    visit(argument::kStatement, self.statement);
    visit(StepArgument{.name = "ITERATOR FACTOR", .expected = "an iterator", .may_lack = true},
          self.groups);
  }
  bool operator==(const CopyStep&) const = default;
};

/// `cache_write C`: makes a reduction accumulate in a separate workspace; a second statement stores
/// the results.
///   before: C[i,j] sum= A[i,k] * B[k,j]
///   after:  C.cache[i,j] sum= A[i,k] * B[k,j]; C[i,j] = C.cache[i,j]
struct CacheWriteStep {
  static constexpr std::string_view kName = "cache_write";
  std::string statement;
  static void Fields(auto& self, auto& visit) { visit(argument::kStatement, self.statement); }
  bool operator==(const CacheWriteStep&) const = default;
};

/// `index_split y i 1 36`: splits a statement into one for each range of an iterator's values. The
/// ranges begin at 0 and at the given values. Each new statement is scheduled separately.
///   before: y[i] = ... for i < 37
///   after:  y.part0 for i < 1; y.part1 for i < 35: i + 1; y.part2 for i < 1: i + 36
struct IndexSplitStep {
  static constexpr std::string_view kName = "index_split";
  std::string statement;
  std::string iterator;
  std::vector<int64_t> points;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kStatement, self.statement);
    visit(argument::kIterator, self.iterator);
    visit(StepArgument{"VALUE", "a value"}, self.points);
  }
  bool operator==(const IndexSplitStep&) const = default;
};

/// `reduce_split s r 64 inner`: splits a reduction over r into partial reductions and a reduction
/// over their results. There is one partial reduction for each value of r mod 64 (inner) or
/// floor(r/64) (outer).
///   before: s[i] max= x[i,r]
///   after:  s.part[i,p] max= x[i,64*r' + p]; s[i] max= s.part[i,p]
struct ReduceSplitStep {
  static constexpr std::string_view kName = "reduce_split";
  enum class Parallel : uint8_t { kInner, kOuter };
  std::string statement;
  std::string iterator;
  int64_t factor = 1;
  Parallel parallel = Parallel::kInner;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kStatement, self.statement);
    visit(argument::kIterator, self.iterator);
    visit(argument::kFactor, self.factor);
    visit(StepArgument{"inner|outer", "inner or outer"}, self.parallel);
  }
  bool operator==(const ReduceSplitStep&) const = default;
};

/// `inline t`: computes the statement's value where it is read, and removes the statement.
///   before: t[i] = exp(x[i]); y[i] = t[i] + 1.0
///   after:  y[i] = exp(x[i]) + 1.0
struct InlineStep {
  static constexpr std::string_view kName = "inline";
  std::string statement;
  static void Fields(auto& self, auto& visit) { visit(argument::kStatement, self.statement); }
  bool operator==(const InlineStep&) const = default;
};

/// `precision acc bf16 3`: computes a float32 sum of products with each float32 operand split into
/// one to three bfloat16 parts, and accumulates in float32. The accuracy contract may forbid the
/// step or require more parts.
///   before: acc[i,j] sum= A[i,k] * B[k,j]
///   after:  A.bf16[0..3,i,k] = parts of A[i,k]; B.bf16[0..3,k,j] = parts of B[k,j]
///           acc[i,j] sum= f32(A.bf16[.,i,k]) * f32(B.bf16[.,k,j])      for six products of parts
struct PrecisionStep {
  static constexpr std::string_view kName = "precision";
  std::string statement;
  int bf16_parts = 3;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kStatement, self.statement);
    visit(StepArgument{.name = "PARTS",
                       .expected = "a number of terms",
                       .after = "bf16",
                       .least = 1,
                       .most = 3},
          self.bf16_parts);
  }
  bool operator==(const PrecisionStep&) const = default;
};

/// `narrow t acc`: stores a workspace tensor as bfloat16, rounded where it is written. Only one sum
/// of products may read the tensor. The accuracy contract decides whether one bfloat16 part per
/// operand is allowed.
///   before: t[i,k] = A[i,k] + A[i,k+1];        acc[i,j] sum= t[i,k] * B[k,j]
///   after:  t[i,k] = bf16(A[i,k] + A[i,k+1]);  acc[i,j] sum= f32(t[i,k]) * B[k,j]
struct NarrowStep {
  static constexpr std::string_view kName = "narrow";
  std::string tensor;
  std::string statement;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kTensor, self.tensor);
    visit(argument::kStatement, self.statement);
  }
  bool operator==(const NarrowStep&) const = default;
};

/// `widen A acc`: replaces reads of A that are cast to a wider type by reads of a tensor of this
/// type. The tensor is computed from A just before the statement, or once at compile time if A is
/// constant. A workspace tensor gets the wider type without a copy.
///   before: acc[i,j] sum= f32(A[i,k]) * f32(B[k,j])
///   after:  A.wide[i,k] = f32(A[i,k]); acc[i,j] sum= A.wide[i,k] * f32(B[k,j])
struct WidenStep {
  static constexpr std::string_view kName = "widen";
  std::string tensor;
  std::string statement;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kTensor, self.tensor);
    visit(argument::kStatement, self.statement);
  }
  bool operator==(const WidenStep&) const = default;
};

/// `hoist A.copy`: moves the statement before all other statements. The phase of its loops then
/// runs first.
///   before: t[i] = ...; A.copy[i,k] = A[i,k];  acc[i,j] sum= t[i] * A.copy[i,k]
///   after:  A.copy[i,k] = A[i,k];  t[i] = ...; acc[i,j] sum= t[i] * A.copy[i,k]
struct HoistStep {
  static constexpr std::string_view kName = "hoist";
  std::string statement;
  static void Fields(auto& self, auto& visit) { visit(argument::kStatement, self.statement); }
  bool operator==(const HoistStep&) const = default;
};

/// `pad acc i 16 k 8`: extends a sum's iterators to the next multiple, so that all tiles are full,
/// and removes the conditions of its domain. Copies of its operands store 0 outside of the
/// operands' elements.
///   before: A.copy[i,k] = A[i,k];    acc[i,j] sum= A.copy[i,k] * B[k,j]       for i < 37, k < 29
///   after:  A.copy[i,k] = A[i,k] or 0 outside
///           acc[i,j] sum= A.copy[i,k] * (B[k,j] or 0 outside)                  for i < 48, k < 32
struct PadStep {
  static constexpr std::string_view kName = "pad";
  using Multiple = IteratorFactor;
  std::string statement;
  std::vector<Multiple> multiples;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kStatement, self.statement);
    visit(StepArgument{.name = "ITERATOR FACTOR", .expected = "an iterator", .may_lack = true},
          self.multiples);
  }
  bool operator==(const PadStep&) const = default;
};

using ComputeStepVariant =
    std::variant<PackStep, CopyStep, CacheWriteStep, IndexSplitStep, ReduceSplitStep, InlineStep,
                 PrecisionStep, NarrowStep, WidenStep, HoistStep, PadStep>;

/// A step that rewrites the Compute.
using ComputeStep = AnyStepOf<ComputeStepVariant>;

}  // namespace tunec
