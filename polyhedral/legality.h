// Whether a schedule tree keeps the meaning of its Compute, decided by isl from the
// dependences between statement instances.
#pragma once

#include <memory>

#include "ir/compute.h"
#include "polyhedral/affine_schedule.h"
#include "polyhedral/instance_pairs.h"
#include "polyhedral/schedule_tree.h"
#include "support/error.h"

namespace tunec {

/// How far reductions may be reordered: by the accuracy contract.
enum class ReductionOrder { kAny, kAsWritten };

/// The dependences of a Compute's statements in their original order, per storage: value-based
/// flow (who reads what whom wrote) and the false dependences of reused storage. One object
/// serves many trees over the same statements; what isl computes is kept. Owns an isl context:
/// one thread at a time.
class Dependences {
 public:
  /// Enough operations of isl for attention's statements; bounds what a hostile input costs, to
  /// seconds.
  static constexpr unsigned long kOperations = 40'000'000;

  /// `statements` as by ExpandReductions, which index `tensors`. Each question may take so many
  /// operations of isl.
  static Dependences Of(const std::vector<Tensor>& tensors,
                        const std::vector<Statement>& statements,
                        unsigned long operations = kOperations);
  Dependences(Dependences&&) noexcept;
  Dependences& operator=(Dependences&&) noexcept;
  ~Dependences();

  /// ok, or kIllegalSchedule naming the violated dependence:
  ///   - every instance of every statement runs, once;
  ///   - every dependence runs forward in the tree's order (those of a reduction on its own
  ///     accumulator may be permuted under kAny);
  ///   - no dependence is carried by a parallel loop, nor by a vector loop unless it is a
  ///     reorderable reduction's own;
  ///   - what a pipelined loop copies ahead is written as many iterations before, or outside it;
  ///   - no dependence through storage that each thread of a block has for itself goes from one
  ///     thread to another;
  ///   - a staged tensor's values never pass from one run of its stage to another, and only
  ///     statements inside touch it (false dependences between runs are void: each run has
  ///     its own storage).
  /// kResourceLimit when isl needs more than its quota of operations. isl is asked only about
  /// what the quick proof (order_proof.h) leaves open.
  Status Check(const ScheduleTree& tree, ReductionOrder order) const;

  /// The same by isl alone: what tests hold against Check.
  Status CheckExactly(const ScheduleTree& tree, ReductionOrder order) const;

  /// What isl's own scheduler makes of the statements, whose every dependence holds (those of
  /// reductions on themselves too). kResourceLimit beyond a quota that bounds it to milliseconds.
  Result<AffineSchedule> Propose(StatementFusion fusion) const;

  /// The flow dependences as isl text, for documentation and tests.
  Result<std::string> Print() const;

  /// The dependences from instances in one box to instances in another, sorted, each pair once. Of
  /// a reduction's own, which relate each addition to all later ones, only those to the next in the
  /// box. kResourceLimit beyond `most` pairs, or isl's quota.
  Result<std::vector<InstancePair>> Between(const InstanceBox& from, const InstanceBox& to,
                                            size_t most) const;

  /// Whether instances in a box have dependent ones of the other's statement outside the other.
  Result<bool> HasOthers(const InstanceBox& from, const InstanceBox& to) const;

  /// Domains and accesses of the statements, their order in `tree`, and all dependences, as isl
  /// simplifies them, with the names of statements, iterators and tensors.
  Result<std::string> Describe(const ScheduleTree& tree) const;

 private:
  struct Impl;
  explicit Dependences(std::unique_ptr<Impl> impl);
  Status CheckStorages(const ScheduleTree& tree, ReductionOrder order,
                       const std::vector<bool>& proven) const;
  std::unique_ptr<Impl> impl_;
};

/// The version of the isl that is linked; the build checks that it is libisl's own and not
/// the one inside libLLVM.
std::string IslVersion();

}  // namespace tunec
