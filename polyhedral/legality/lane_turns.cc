#include "polyhedral/legality/lane_turns.h"

#include <vector>

#include "polyhedral/relations.h"

namespace tunec {
namespace {

// Returns the access's position in its instance. Writes are in the order of their numbers, and the
// reads for a write have the position before the write.
size_t PositionOf(const Access& access) { return 2 * access.turn + (access.writes ? 1 : 0); }

isl::Map MapOf(isl_ctx* ctx, const LaneOrder& order, const WrittenStorage& storage,
               const Access& access) {
  const std::string text = AccessText(order.statement, storage, access);
  return isl::Map(isl_map_read_from_str(ctx, text.c_str()));
}

// Returns whether access `a` of an earlier lane and access `b` of a later lane may touch one
// element. Also returns true if isl fails, such as at its quota.
bool Meet(const LaneOrder& order, const isl::Map& a, const isl::Map& b) {
  isl_map* pairs = isl_map_apply_range(a.copy(), isl_map_reverse(b.copy()));
  pairs = isl_map_apply_domain(pairs, order.times.copy());
  pairs = isl_map_apply_range(pairs, order.times.copy());
  isl_set* differences = isl_map_deltas(pairs);
  for (size_t i = 0; i < order.depth; ++i) {
    differences = isl_set_fix_si(differences, isl_dim_set, static_cast<unsigned>(i), 0);
  }
  const isl::Set later(
      isl_set_lower_bound_si(differences, isl_dim_set, static_cast<unsigned>(order.depth), 1));
  return !later.ok() || isl_set_is_empty(later.get()) != isl_bool_true;
}

}  // namespace

bool LanesKeepOrder(isl_ctx* ctx, StatementId id, const LaneOrder& order,
                    const WrittenStorage& storage) {
  for (const Access& a : storage.accesses) {
    for (const Access& b : storage.accesses) {
      if (a.statement != id || b.statement != id || !(a.writes || b.writes)) continue;
      if (PositionOf(a) < PositionOf(b)) continue;
      if (Meet(order, MapOf(ctx, order, storage, a), MapOf(ctx, order, storage, b))) return false;
    }
  }
  return true;
}

}  // namespace tunec
