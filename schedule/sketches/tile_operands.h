// Computation of a register tile's operands that are not constants: for a block of rows in the
// task's buffer, or in separate phases.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schedule/schedule.h"
#include "schedule/sketches/tile_plan.h"

namespace tunec {

/// Returns the order of the operand along the columns, with `columns` for an axis without a factor.
/// Requires: plan.pack.
PackStep PackForColumns(const TilePlan& plan, int64_t columns);

/// A writer of the steps; plan and schedule must outlive it.
class TileOperands {
 public:
  /// `columns`: of a register tile; `vector`: the longest vector of the computation of an operand.
  TileOperands(const TilePlan& plan, int64_t columns, int64_t vector, Schedule& schedule)
      : plan_(plan), columns_(columns), vector_(vector), schedule_(schedule) {}

  /// Packs the weights of a sum that computes the operand, in the order of its tile's loops.
  void PackSum();
  /// Computes the operand in an iteration of the row's outermost loop, into a buffer. `row_parts`
  /// has the name suffixes of the row's inner loops, outermost first. A sum that computes the
  /// operand has register tiles of the last part by a vector.
  void ComputeByBlock(const std::vector<std::string>& row_parts);
  /// Vectorizes the last of the operand's loops. Call it after all other steps on the operand.
  void VectorizeBlock();
  /// Prefetches the reads of the sum in the next iteration of the loop. Requires: VectorizeBlock.
  void PrefetchSum(const std::string& loop);
  /// Writes a separate phase with the statement's loops. The last loop is vectorized. The first
  /// loops, up to one with enough iterations to share, become tasks.
  void WritePhase(const std::string& name);

 private:
  void Add(auto step) { schedule_.Add(std::move(step)); }
  const Statement& StatementNamed(const std::string& name) const {
    return plan_.compute->statements[*plan_.compute->FindStatement(name)];
  }
  std::vector<int64_t> OrderInBuffer() const;
  std::vector<std::string> LoopsOfOne() const;
  std::vector<VarId> IteratorsInBlock() const;
  std::string LoopInBlock(VarId iterator) const;
  bool WriteRounding(const Statement& statement);
  const ChainedSum* Sum() const { return plan_.operand ? plan_.operand->sum.get() : nullptr; }
  /// Checks that the operand is contiguous along the reduced dimension.
  bool AlongReduced() const { return plan_.dot || Sum() != nullptr; }
  std::string InStatement(const std::string& statement, const std::string& operand_loop) const {
    return statement + operand_loop.substr(plan_.operand->statement.size());
  }
  void ComputeSum();
  void FinishSum();

  const TilePlan& plan_;
  const int64_t columns_;
  const int64_t vector_;
  Schedule& schedule_;
  std::string vector_loop_;
  std::string tile_loop_;  // around the rows of a register tile of the sum
  std::string row_loop_;   // over these rows
};

}  // namespace tunec
