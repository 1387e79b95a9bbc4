// Pairs of dependent statement instances as plain numbers, for drawings and tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/compute.h"
#include "polyhedral/dependences.h"

namespace tunec {

/// The reason why two instances must keep their order. If a pair has several reasons, the first one
/// listed here counts.
enum class DependenceType : uint8_t {
  kFlow,       // the second reads what the first wrote
  kReduction,  // both add to one element: any order is allowed unless sums must be added as written
  kAnti,       // the second overwrites what the first read
  kOutput,     // the second overwrites what the first wrote
};

inline constexpr size_t kDependenceTypes = 4;

/// The instances of a statement with iterators in these intervals.
struct InstanceBox {
  StatementId statement;
  std::vector<Interval> ranges;  // by iterator
};

struct InstancePair {
  TensorId tensor;  // the dependence is through the storage of this tensor
  DependenceType type = DependenceType::kFlow;
  std::vector<int64_t> from, to;  // values of the iterators
};

/// Returns the dependences from instances in one box to instances in another, sorted, each pair
/// once. A reduction's own dependences relate each addition to all later ones; only those to the
/// next addition in the box are returned. Errors: kResourceLimit beyond `most` pairs or isl's
/// quota.
Result<std::vector<InstancePair>> PairsBetween(const Dependences& dependences,
                                               const InstanceBox& from, const InstanceBox& to,
                                               size_t most);

/// Returns whether instances in `from` have dependent instances of the other statement outside
/// `to`.
Result<bool> HasOtherPairs(const Dependences& dependences, const InstanceBox& from,
                           const InstanceBox& to);

}  // namespace tunec
