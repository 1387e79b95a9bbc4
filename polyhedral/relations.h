// isl's text for iteration domains, access relations and schedules. Statement s is the tuple
// S<s>, tensor t is T<t>, iterator i is i<i>.
#pragma once

#include <string>
#include <vector>

#include "ir/compute.h"
#include "polyhedral/schedule_tree.h"

namespace tunec {

/// `{ S0[i0, i1] : 0 <= i0 < 4 and ... }`
std::string DomainText(StatementId id, const Statement& statement);
/// `{ S0[i0, i1] -> T2[a0] : a0 = i0 + i1 and ... }`, over the domain and the guard. An index
/// that is itself loaded may be anything within the tensor.
std::string AccessText(StatementId id, const Statement& statement, const Tensor& tensor,
                       TensorId tensor_id, const std::vector<IndexExpr>& index,
                       const std::vector<IndexExpr>& guard);
/// `{ S0[i0, i1] -> [e0, e1, ...] }` without the domain.
std::string TimeText(StatementId id, const Statement& statement,
                     const std::vector<IndexExpr>& time);
/// When the tree runs the instances of a statement: places in sequences and values of loops
/// from the root down to its leaf, over its iterators.
std::vector<IndexExpr> TimeOf(const ScheduleTree& tree, StatementId statement);

}  // namespace tunec
