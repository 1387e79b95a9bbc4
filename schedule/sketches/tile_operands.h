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

/// Returns the storage order of the packed operand. Axes over parts of a dimension that have no
/// factor get the factor `columns`. Requires: plan.pack.
PackStep PackForColumns(const TilePlan& plan, int64_t columns);

/// A writer of the steps that compute the operands of one plan. The plan and the schedule must
/// outlive the writer.
class TileOperands {
 public:
  /// Makes a writer. `columns` is the number of columns of a register tile. `vector` is the length
  /// of the longest vectors that compute an operand.
  TileOperands(const TilePlan& plan, int64_t columns, int64_t vector, Schedule& schedule)
      : plan_(plan), columns_(columns), vector_(vector), schedule_(schedule) {}

  /// Packs the weights of the sum that computes the operand, in the order in which the loops of the
  /// sum's tile read them. Does nothing if there is no such sum, or if its plan has no `pack`.
  void PackSum();
  /// Computes the operand in an iteration of the row's outermost loop, into a buffer. `row_parts`
  /// has the name suffixes of the row's inner loops, outermost first. If a sum computes the
  /// operand, its register tiles have the rows of the last part and one vector of columns.
  void ComputeByBlock(const std::vector<std::string>& row_parts);
  /// Vectorizes the last of the operand's loops. If a sum computes the operand, unrolls the rows of
  /// its tiles and its short loops. Call it after all other steps on the operand.
  void VectorizeBlock();
  /// Prefetches, in each iteration of the loop, the unpacked operands that the operand's sum reads
  /// in the next iteration. Requires: VectorizeBlock was called.
  void PrefetchSum(const std::string& loop);
  /// Adds the steps of a separate phase with the loops of the statement `name`. The last loop is
  /// vectorized. The first loops become tasks, up to and including the first one with several
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
  std::string tile_loop_;  // loop around the rows of a register tile of the sum
  std::string row_loop_;   // loop over the rows of this register tile
};

}  // namespace tunec
