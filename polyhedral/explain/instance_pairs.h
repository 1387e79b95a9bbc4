// Functions that find pairs of dependent statement instances, for drawings.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/compute.h"
#include "polyhedral/dependences.h"

namespace tunec {

/// The reason why two instances must keep their order. If there are several reasons, the first of
/// this list is given.
enum class DependenceType : uint8_t {
  kFlow,       // the second reads what the first wrote
  kReduction,  // both add to one element; the additions may be reordered if the accuracy contract
               // allows it
  kAnti,       // the second overwrites what the first read
  kOutput,     // the second overwrites what the first wrote
};

inline constexpr size_t kDependenceTypes = 4;

/// The instances of a statement whose iterators are in the intervals `ranges`.
struct InstanceBox {
  StatementId statement;
  std::vector<Interval> ranges;  // by iterator
};

struct InstancePair {
  TensorId tensor;  // the dependence is through the storage of this tensor
  DependenceType type = DependenceType::kFlow;
  std::vector<int64_t> from, to;  // values of the iterators
};

/// Returns the dependences from instances in `from` to instances in `to`, sorted, each pair once. A
/// pair of additions of one reorderable reduction is omitted if an addition in both boxes comes
/// between them. Fails with kResourceLimit for more than `most` pairs, repeated ones included, or
/// if isl's quota is used up.
Result<std::vector<InstancePair>> PairsBetween(const Dependences& dependences,
                                               const InstanceBox& from, const InstanceBox& to,
                                               size_t most);

/// Returns whether instances in `from` have dependent instances of the statement of `to` outside
/// the box `to`.
Result<bool> HasOtherPairs(const Dependences& dependences, const InstanceBox& from,
                           const InstanceBox& to);

}  // namespace tunec
