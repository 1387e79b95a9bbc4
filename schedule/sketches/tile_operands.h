// Computation of a register tile's operands that are not constants: by blocks of rows in a buffer
// of the task, or in separate phases.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schedule/schedule.h"
#include "schedule/sketches/tile_plan.h"

namespace tunec {

/// Returns the storage order of the packed operand. An axis with factor 1 over part of a dimension
/// gets the factor `columns`. Requires: plan.pack.
PackStep PackForColumns(const TilePlan& plan, int64_t columns);

/// A writer of the steps that compute the operands of one plan. The plan and the schedule must
/// outlive the writer.
class TileOperands {
 public:
  /// Makes a writer. `columns` is the number of columns of a register tile. `vector` is the largest
  /// vector length for a whole dimension of an operand.
  TileOperands(const TilePlan& plan, int64_t columns, int64_t vector, Schedule& schedule)
      : plan_(plan), columns_(columns), vector_(vector), schedule_(schedule) {}

  /// Packs an operand of the sum that computes the plan's operand, in the order in which the loops
  /// of the sum's tile read it. Does nothing without such a sum, or if its plan has no `pack`.
  void PackSum();
  /// Computes a block of the operand into a buffer, in each iteration of the row's outermost loop.
  /// `row_parts` has the name suffixes of the row's inner loops, outermost first. If a sum computes
  /// the operand, the sum's register tile has the rows of the last part and one vector of columns.
  void ComputeByBlock(const std::vector<std::string>& row_parts);
  /// Vectorizes the last loop of the operand's blocks (ComputeByBlock), if there is one. If a sum
  /// computes the operand, unrolls the rows of the sum's tiles and the sum's short loops. Call
  /// VectorizeBlock after all other steps on these loops.
  void VectorizeBlock();
  /// Prefetches, in each iteration of the loop, what the operand's sum reads in the next iteration,
  /// except constants and packed operands. Requires: there is such a sum, and VectorizeBlock was
  /// called.
  void PrefetchSum(const std::string& loop);
  /// Adds the steps of a separate phase with the loops of the statement `name`. The last loop is
  /// vectorized. The loops before it become tasks, up to and including the first one with several
  /// iterations. Adds nothing for a reduction or a statement without loops.
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
  /// Checks that the operand must be contiguous along the reduced dimension in its buffer.
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
  std::string tile_loop_;  // loop around the rows of a register tile of the sum
  std::string row_loop_;   // loop over the rows of this register tile
};

}  // namespace tunec
