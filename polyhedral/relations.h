// isl's text for iteration domains, access relations and schedules. Statement s is the tuple
// S<s>, the storage of tensor t is T<t>, iterator i is i<i>.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "polyhedral/access.h"
#include "polyhedral/schedule_tree.h"

namespace tunec {

/// `{ S0[i0, i1] : 0 <= i0 < 4 and ... }`
std::string DomainText(StatementId id, const Statement& statement);
/// `{ S0[i0, i1] -> T2[a0] : a0 = i0 + i1 and ... }`, over the domain and the guard. An index
/// that is itself loaded may be anything within the storage.
std::string AccessText(const Statement& statement, const WrittenStorage& storage,
                       const Access& access);
/// `{ S0[i0, i1] -> [e0, e1, ...] }` without the domain.
std::string TimeText(StatementId id, const Statement& statement,
                     const std::vector<IndexExpr>& time);
/// `{ S0[i0, i1] : 0 <= i0 < 4 and ... and (w0 >= 0 or w1 >= 0 ...) }`
std::string AnyOfText(StatementId id, const Statement& statement,
                      const std::vector<IndexExpr>& nonnegative);

inline constexpr size_t kThreadAxes = 3;
using ThreadNumbers = std::array<IndexExpr, kThreadAxes>;
/// Which thread of a block runs the instances of a statement, by axis: the value of the block loop
/// of that axis around it, 0 without one. Along x, of a tile that a warp executes: the lane that
/// has the accumulator's element.
ThreadNumbers ThreadOf(const ScheduleTree& tree, StatementId statement);

/// Whether a node has an entry in the times of what is below it.
bool HasTime(const TreeNode& node);
/// When the tree runs the instances of a statement: places in sequences and values of loops
/// from the root down to its leaf, over its iterators.
std::vector<IndexExpr> TimeOf(const ScheduleTree& tree, StatementId statement);
/// Whether all iterations of a loop, of those around it one each, write the same elements: lanes
/// that add to them can be summed first. `written`: the statement before staging.
bool WritesOneElement(const ScheduleTree& tree, StatementId statement, const Statement& written,
                      VarId loop);

}  // namespace tunec
