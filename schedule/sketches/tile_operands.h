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

  /// The operand is computed in an iteration of the row's outermost loop, into a buffer.
  /// `row_parts`: what the names of the row's loops inside of that end with, outermost first.
  void ComputeByBlock(const std::vector<std::string>& row_parts);
  /// The last of that operand's loops in vectors. To be written after all other steps on it.
  void VectorizeBlock();
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
  bool WriteRounding(const Statement& statement);

  const TilePlan& plan_;
  const int64_t columns_;
  const int64_t vector_;
  Schedule& schedule_;
  std::string vector_loop_;
};

}  // namespace tunec
