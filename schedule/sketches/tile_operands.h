// How a register tile's operands are made that are no constants: for a block of rows, in the task's
// buffer, or in phases of their own.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "schedule/schedule.h"
#include "schedule/sketches/tile_plan.h"

namespace tunec {

/// The order of the operand along the columns, with `columns` where an axis has no factor yet.
/// Requires: plan.pack.
PackStep PackForColumns(const TilePlan& plan, int64_t columns);

/// Writes the steps; plan and schedule must outlive it.
class TileOperands {
 public:
  /// `columns`: of a register tile; `vector`: the longest vector of what computes an operand.
  TileOperands(const TilePlan& plan, int64_t columns, int64_t vector, Schedule& schedule)
      : plan_(plan), columns_(columns), vector_(vector), schedule_(schedule) {}

  /// Of a sum that the operand is made of: its weights in the order of its tile's loops.
  void PackSum();
  /// The operand is computed in an iteration of the row's outermost loop, into a buffer.
  /// `row_parts`: what the names of the row's loops inside of that end with, outermost first. A sum
  /// that it is made of has register tiles of the last part by a vector.
  void ComputeByBlock(const std::vector<std::string>& row_parts);
  /// The last of that operand's loops in vectors. To be written after all other steps on it.
  void VectorizeBlock();
  /// What that sum reads in the next iteration of the loop is asked for. Requires: VectorizeBlock.
  void PrefetchSum(const std::string& loop);
  /// A phase of its own, as the statement has its loops: the last one in vectors, the first ones,
  /// up to one that has iterations to share, as tasks.
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
  /// Whether the operand's elements lie side by side along what is reduced.
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
  std::string row_loop_;   // over these
};

}  // namespace tunec
