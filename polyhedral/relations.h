// Functions that write iteration domains, access relations and times as texts for isl, and
// functions that find the times and threads of instances. In the texts, statement s is the tuple
// S<s>, the storage of tensor t is T<t>, and iterator i is i<i>.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "polyhedral/access.h"
#include "polyhedral/schedule_tree.h"

namespace tunec {

/// Returns the iteration domain, without conditions on loaded values:
/// `{ S0[i0, i1] : 0 <= i0 < 4 and ... }`.
std::string DomainText(StatementId id, const Statement& statement);
/// Returns the elements that each instance may access: `{ S0[i0, i1] -> T2[a0] : a0 = i0 + i1 and
/// ... }`. The domain and the access's guard limit the relation, without their conditions on loaded
/// values. A loaded index may be any index of the storage.
std::string AccessText(const Statement& statement, const WrittenStorage& storage,
                       const Access& access);
/// Returns the time of each instance: `{ S0[i0, i1] -> [e0, e1, ...] }`, without the domain.
std::string TimeText(StatementId id, const Statement& statement,
                     const std::vector<IndexExpr>& time);
/// Returns the instances of DomainText for which at least one of the expressions is >= 0:
/// `{ S0[i0, i1] : 0 <= i0 < 4 and ... and (w0 >= 0 or w1 >= 0 ...) }`.
std::string AnyOfText(StatementId id, const Statement& statement,
                      const std::vector<IndexExpr>& nonnegative);

inline constexpr size_t kThreadAxes = 3;
using ThreadNumbers = std::array<IndexExpr, kThreadAxes>;
/// Returns the number, along each axis, of the thread of a block that runs the instances of a
/// statement. The number is the value of the enclosing block loop of the axis, or 0 without such a
/// loop. If a warp executes a tile, the lane that holds the accumulator's element is added along x.
ThreadNumbers ThreadOf(const ScheduleTree& tree, StatementId statement);

/// Returns whether the time of a statement below the node has an entry for the node. Loops and
/// sequences have entries.
bool HasTime(const TreeNode& node);
/// Returns the time at which the tree runs the instances of a statement, over its iterators. The
/// entries are positions in sequences and values of loops, from the root down to the leaf.
std::vector<IndexExpr> TimeOf(const ScheduleTree& tree, StatementId statement);
/// Returns true only if all iterations of a loop write the same elements, for fixed iterations of
/// all other loops. The values of lanes that add to these elements can then be summed first. The
/// elements are those that `written`, the statement before or after staging, writes.
bool WritesOneElement(const ScheduleTree& tree, StatementId statement, const Statement& written,
                      VarId loop);

}  // namespace tunec
