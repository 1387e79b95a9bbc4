#include "polyhedral/explain/instance_pairs.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "polyhedral/dependence_data.h"
#include "polyhedral/relations.h"

namespace tunec {
namespace {

isl::Set SetOf(isl_ctx* ctx, const InstanceBox& box) {
  std::string iterators, conditions = "1 = 1";
  for (size_t i = 0; i < box.ranges.size(); ++i) {
    iterators += fmt::format("{}i{}", i > 0 ? ", " : "", i);
    conditions += fmt::format(" and {} <= i{} <= {}", box.ranges[i].lo, i, box.ranges[i].hi);
  }
  const std::string text = fmt::format("{{ S{}[{}] : {} }}", box.statement, iterators, conditions);
  return isl::Set(isl_set_read_from_str(ctx, text.c_str()));
}

// The state of AddPair in one call of isl_set_foreach_point. `pairs` never has more than `most`
// entries, those of earlier calls included.
struct Collection {
  InstancePair next;  // complete except for the values
  size_t source_dimensions = 0;
  size_t most = 0;
  std::vector<InstancePair>* pairs = nullptr;
};

isl_stat AddPair(isl_point* taken, void* user) {
  const isl::Point point(taken);
  Collection& collection = *static_cast<Collection*>(user);
  if (collection.pairs->size() >= collection.most) return isl_stat_error;
  isl_space* space = isl_point_get_space(point.get());
  const int dimensions = static_cast<int>(isl_space_dim(space, isl_dim_set));
  isl_space_free(space);
  InstancePair pair = collection.next;
  for (int i = 0; i < dimensions; ++i) {
    isl_val* value = isl_point_get_coordinate_val(point.get(), isl_dim_set, i);
    const bool source = static_cast<size_t>(i) < collection.source_dimensions;
    (source ? pair.from : pair.to).push_back(isl_val_get_num_si(value));
    isl_val_free(value);
  }
  collection.pairs->push_back(std::move(pair));
  return isl_stat_ok;
}

// Returns a transitive relation without the pairs that two consecutive pairs imply.
isl::Map WithoutDetours(const isl::Map& order) {
  isl_map* detours = isl_map_apply_range(order.copy(), order.copy());
  return isl::Map(isl_map_subtract(order.copy(), detours));
}

// Returns { a -> b : a reads an element that b writes }, for instances a of the statement
// dependence.from and b of dependence.to.
isl::Map Overwritten(isl_ctx* ctx, const Statements& statements, const WrittenStorage& storage,
                     const Dependence& dependence) {
  isl::Map all(isl_map_empty(isl_map_get_space(dependence.instances.get())));
  const auto relation = [&](const Access& access) {
    const std::string text = AccessText(statements[access.statement], storage, access);
    return isl_map_read_from_str(ctx, text.c_str());
  };
  for (const Access& read : storage.accesses) {
    if (!read.reads || read.statement != dependence.from) continue;
    for (const Access& write : storage.accesses) {
      if (!write.writes || write.statement != dependence.to) continue;
      isl_map* pairs = isl_map_apply_range(relation(read), isl_map_reverse(relation(write)));
      all = isl::Map(isl_map_union(all.take(), pairs));
    }
  }
  return all;
}

// Sorts the entries, and keeps only the first by type and tensor for each pair of instances.
void RemoveDuplicates(std::vector<InstancePair>& pairs) {
  std::ranges::sort(pairs, [](const InstancePair& a, const InstancePair& b) {
    return std::tie(a.from, a.to, a.type, a.tensor) < std::tie(b.from, b.to, b.type, b.tensor);
  });
  const auto same = [](const InstancePair& a, const InstancePair& b) {
    return a.from == b.from && a.to == b.to;
  };
  const auto rest = std::ranges::unique(pairs, same);
  pairs.erase(rest.begin(), rest.end());
}

}  // namespace

Result<std::vector<InstancePair>> PairsBetween(const Dependences& dependences,
                                               const InstanceBox& from, const InstanceBox& to,
                                               size_t most) {
  Dependences::Data& data = dependences.data();
  isl_ctx* ctx = data.Begin();
  const isl::Set sources = SetOf(ctx, from);
  const isl::Set sinks = SetOf(ctx, to);
  std::vector<InstancePair> pairs;
  const auto collect = [&](const isl::Map& map, TensorId tensor, DependenceType type) -> Status {
    Collection collection{{.tensor = tensor, .type = type},
                          data.statements[from.statement].iterators.size(),
                          most,
                          &pairs};
    const isl::Set points(isl_map_wrap(map.copy()));
    if (isl_set_foreach_point(points.get(), AddPair, &collection) == isl_stat_ok) return {};
    if (pairs.size() < most) return isl::Failure(ctx, "the pairs of dependent instances");
    return Fail(ErrorCode::kResourceLimit,
                "more than {} pairs of instances depend on each other: take fewer instances", most);
  };
  for (size_t i = 0; i < data.storages.size(); ++i) {
    TUNEC_ASSIGN(const std::vector<Dependence>* through, data.FindDependencesThrough(i));
    for (const Dependence& dependence : *through) {
      if (dependence.from != from.statement || dependence.to != to.statement) continue;
      const isl::Map all(isl_map_intersect_range(
          isl_map_intersect_domain(dependence.instances.copy(), sources.copy()), sinks.copy()));
      if (dependence.kind == DependenceKind::kFlow) {
        const bool own = dependence.from == dependence.to &&
                         IsReorderable(data.tensors, data.statements[dependence.from]);
        TUNEC_RETURN_IF_ERROR(collect(own ? WithoutDetours(all) : all, dependence.tensor,
                                      own ? DependenceType::kReduction : DependenceType::kFlow));
        continue;
      }
      const isl::Map over = Overwritten(ctx, data.statements, data.storages[i], dependence);
      const isl::Map anti(isl_map_intersect(all.copy(), over.copy()));
      const isl::Map output(isl_map_subtract(all.copy(), over.copy()));
      TUNEC_RETURN_IF_ERROR(collect(anti, dependence.tensor, DependenceType::kAnti));
      TUNEC_RETURN_IF_ERROR(collect(output, dependence.tensor, DependenceType::kOutput));
    }
  }
  RemoveDuplicates(pairs);
  return pairs;
}

Result<bool> HasOtherPairs(const Dependences& dependences, const InstanceBox& from,
                           const InstanceBox& to) {
  Dependences::Data& data = dependences.data();
  isl_ctx* ctx = data.Begin();
  const isl::Set sources = SetOf(ctx, from);
  const isl::Set sinks = SetOf(ctx, to);
  for (size_t i = 0; i < data.storages.size(); ++i) {
    TUNEC_ASSIGN(const std::vector<Dependence>* through, data.FindDependencesThrough(i));
    for (const Dependence& dependence : *through) {
      if (dependence.from != from.statement || dependence.to != to.statement) continue;
      isl_map* leaving = isl_map_intersect_domain(dependence.instances.copy(), sources.copy());
      const isl::Set reached(isl_map_range(leaving));
      const isl_bool within = isl_set_is_subset(reached.get(), sinks.get());
      if (within == isl_bool_error) return isl::Failure(ctx, "the dependent instances of a slice");
      if (within == isl_bool_false) return true;
    }
  }
  return false;
}

}  // namespace tunec
