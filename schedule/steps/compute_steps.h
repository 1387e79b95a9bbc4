// The steps that rewrite a Compute's statements. They come before all that shape loops.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "schedule/steps/step.h"

namespace tunec {

/// An iterator and a number of its values, as several steps take them.
struct IteratorFactor {
  std::string iterator;
  int64_t factor = 1;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kIterator, self.iterator);
    visit(argument::kFactor, self.factor);
  }
  bool operator==(const IteratorFactor&) const = default;
};

/// `pack w0 1/32 0 1%32`: a copy of a tensor in another storage order, and all readers moved
/// to it. Each storage dimension is a logical dimension, by number, or a part of it: its quotient
/// or remainder by a factor, or what is between two of them (`1/32 ... 1%32/2 ... 1%2`). A copy of
/// weights is made once, when compiling. A workspace tensor is stored so without a copy.
///   before: acc[i,j] sum= x[i,k] * w0[k,j]
///   after:  w0.pack[k,j] = w0[k,j]; acc[i,j] sum= x[i,k] * w0.pack[k,j]
struct PackStep {
  static constexpr std::string_view kName = "pack";
  enum class Part : uint8_t { kWhole, kQuotient, kRemainder, kMiddle };
  struct Axis {
    int dimension = 0;
    Part part = Part::kWhole;
    int64_t factor = 1;
    int64_t of = 0;  // kMiddle: the quotient by the factor of the remainder by this
    bool operator==(const Axis&) const = default;
  };
  std::string tensor;
  std::vector<Axis> axes;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kTensor, self.tensor);
    visit(StepArgument{.name = "AXIS", .wanted = "an axis", .may_lack = true}, self.axes);
  }
  bool operator==(const PackStep&) const = default;
};

/// `copy x acc j 64`: a copy of a tensor, for each 64 values of j its own, and the statement's
/// reads moved to it: what `stage` can put into storage near its use, tile by tile. Where the index
/// of x knows j, each copy has only the window of x that its group may read.
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
    visit(StepArgument{.name = "ITERATOR FACTOR", .wanted = "an iterator", .may_lack = true},
          self.groups);
  }
  bool operator==(const CopyStep&) const = default;
};

/// `cache_write C`: a reduction accumulates in workspace of its own, and a statement after it
/// stores the results.
///   before: C[i,j] sum= A[i,k] * B[k,j]
///   after:  C.cache[i,j] sum= A[i,k] * B[k,j]; C[i,j] = C.cache[i,j]
struct CacheWriteStep {
  static constexpr std::string_view kName = "cache_write";
  std::string statement;
  static void Fields(auto& self, auto& visit) { visit(argument::kStatement, self.statement); }
  bool operator==(const CacheWriteStep&) const = default;
};

/// `index_split y i 1 36`: a statement becomes one for each part of an iterator's values, the parts
/// beginning at these; each is scheduled by itself.
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

/// `reduce_split s r0 64 inner`: a reduction over r becomes partial reductions, one for each
/// value of r mod 64 (inner) or floor(r/64) (outer), and a reduction over those.
///   before: s[i] max= x[i,r]
///   after:  s.part[i,p] max= x[i,64*r' + p]; s[i] max= s.part[i,p]
struct ReduceSplitStep {
  static constexpr std::string_view kName = "reduce_split";
  enum class Keep : uint8_t { kInner, kOuter };
  std::string statement;
  std::string iterator;
  int64_t factor = 1;
  Keep keep = Keep::kInner;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kStatement, self.statement);
    visit(argument::kIterator, self.iterator);
    visit(argument::kFactor, self.factor);
    visit(StepArgument{"inner|outer", "inner or outer"}, self.keep);
  }
  bool operator==(const ReduceSplitStep&) const = default;
};

/// `inline t`: the statement's value is computed where it is read, and the statement goes.
///   before: t[i] = exp(x[i]); y[i] = t[i] + 1.0
///   after:  y[i] = exp(x[i]) + 1.0
struct InlineStep {
  static constexpr std::string_view kName = "inline";
  std::string statement;
  static void Fields(auto& self, auto& visit) { visit(argument::kStatement, self.statement); }
  bool operator==(const InlineStep&) const = default;
};

/// `precision acc bf16 3`: a float32 sum of products over operands that are sums of one to three
/// bfloat16 terms, accumulated in float32. The accuracy contract says how many it takes.
///   before: acc[i,j] sum= A[i,k] * B[k,j]
///   after:  A.bf16[0..3,i,k] = terms of A[i,k]; B.bf16[0..3,k,j] = terms of B[k,j]
///           acc[i,j] sum= f32(A.bf16[.,i,k]) * f32(B.bf16[.,k,j])      for six products of terms
struct PrecisionStep {
  static constexpr std::string_view kName = "precision";
  std::string statement;
  int terms = 3;
  static void Fields(auto& self, auto& visit) {
    visit(argument::kStatement, self.statement);
    visit(
        StepArgument{
            .name = "TERMS", .wanted = "a number of terms", .after = "bf16", .least = 1, .most = 3},
        self.terms);
  }
  bool operator==(const PrecisionStep&) const = default;
};

/// `narrow t acc`: workspace that a sum of products alone reads is of bfloat16, and rounded where
/// it is written. The accuracy contract says whether one term of an operand will do.
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

/// `widen A acc`: the statement, which reads A cast to a wider type, reads a tensor of that type,
/// which is made of A just before; of a constant once, when compiling. A workspace tensor becomes
/// one of that type without a copy.
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

/// `hoist A.copy`: the statement comes before all others, and so does the phase of its loops.
///   before: t[i] = ...; A.copy[i,k] = A[i,k];  acc[i,j] sum= t[i] * A.copy[i,k]
///   after:  A.copy[i,k] = A[i,k];  t[i] = ...; acc[i,j] sum= t[i] * A.copy[i,k]
struct HoistStep {
  static constexpr std::string_view kName = "hoist";
  std::string statement;
  static void Fields(auto& self, auto& visit) { visit(argument::kStatement, self.statement); }
  bool operator==(const HoistStep&) const = default;
};

/// `pad acc i 16 k 8`: a sum whose iterators go on to the next multiple, so that tiles are full,
/// and whose domain has no conditions any more. Copies of its operands hold 0 where these have
/// nothing.
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
    visit(StepArgument{.name = "ITERATOR FACTOR", .wanted = "an iterator", .may_lack = true},
          self.multiples);
  }
  bool operator==(const PadStep&) const = default;
};

using ComputeStep =
    std::variant<PackStep, CopyStep, CacheWriteStep, IndexSplitStep, ReduceSplitStep, InlineStep,
                 PrecisionStep, NarrowStep, WidenStep, HoistStep, PadStep>;
static_assert(AreSteps<ComputeStep>);

}  // namespace tunec
