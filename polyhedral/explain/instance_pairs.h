// Pairs of dependent statement instances as plain numbers, for drawings and tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/compute.h"
#include "polyhedral/dependences.h"

namespace tunec {

/// Why two instances must keep their order. Where a pair has several reasons the first counts.
enum class DependenceType : uint8_t {
  kFlow,       // the second reads what the first wrote
  kReduction,  // both add to one element: in any order, unless sums must be added as written
  kAnti,       // the second overwrites what the first read
  kOutput,     // the second overwrites what the first wrote
};

inline constexpr size_t kDependenceTypes = 4;

/// The instances of a statement whose iterators lie in these intervals.
struct InstanceBox {
  StatementId statement;
  std::vector<Interval> ranges;  // by iterator
};

struct InstancePair {
  TensorId tensor;  // through whose storage
  DependenceType type = DependenceType::kFlow;
  std::vector<int64_t> from, to;  // values of the iterators
};

/// The dependences from instances in one box to instances in another, sorted, each pair once. Of
/// a reduction's own, which relate each addition to all later ones, only those to the next in the
/// box. kResourceLimit beyond `most` pairs, or isl's quota.
Result<std::vector<InstancePair>> PairsBetween(const Dependences& dependences,
                                               const InstanceBox& from, const InstanceBox& to,
                                               size_t most);

/// Whether instances in a box have dependent ones of the other's statement outside the other.
Result<bool> HasOtherPairs(const Dependences& dependences, const InstanceBox& from,
                           const InstanceBox& to);

}  // namespace tunec
