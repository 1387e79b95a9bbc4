// Offset assignment is two-dimensional packing (time by address) and NP-hard. For networks, greedy
// orders with best fit need little more than the largest total size of values alive at one step.
// Source: Pisarchyk and Lee 2020, "Efficient memory management for deep neural net inference",
// greedy by size.
//
// Values that reuse each other's storage form a chain: one block, alive from the first member's
// first use to the last member's last use. Two members are alive together only at the step that
// reads one and writes the next. So a chain is packed like one value.
//
// Invariants of a plan, checked by VerifyPlan:
//   1. Each value has one offset and one in_place_of entry.
//   2. An offset is >= 0 and a multiple of its value's alignment, and the value ends within
//      total_bytes. This includes values of no bytes.
//   3. If in_place_of[v] = u >= 0, u is one of v's candidates, and u's last use is v's first use.
//      Before that step u is used, and after that step v. The size of u is at least that of v.
//      Both have the same offset, and no other value reuses u.
//   4. Two values alive at the same step do not share a byte, unless one reuses the other.
#include "compiler/assemble/memory_plan.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <tuple>

#include "support/check.h"

namespace tunec {
namespace {

enum class Reuse : uint8_t { kNever, kInPlace };
enum class Order : uint8_t { kSize, kFirstUse, kArea };

// A chain of values, each of which reuses the storage of the one before. A value without such a
// neighbour is a chain of one.
struct Block {
  int64_t bytes = 0;
  int64_t alignment = 1;
  int first_use = 0;
  int last_use = 0;
  std::vector<int> members;  // in the order of their use
  int64_t offset = -1;

  bool MeetsInTime(const Block& other) const {
    return first_use <= other.last_use && other.first_use <= last_use;
  }
};

int64_t RoundUp(int64_t x, int64_t alignment) {
  return (x + alignment - 1) / alignment * alignment;
}

bool CanTakeOver(const PlannedValue& next, const PlannedValue& old) {
  return old.last_use == next.first_use && old.first_use < old.last_use &&
         next.first_use < next.last_use && next.bytes <= old.bytes && next.bytes > 0;
}

std::vector<int> ChooseReuse(std::span<const PlannedValue> values, Reuse reuse) {
  std::vector<int> in_place_of(values.size(), -1);
  if (reuse == Reuse::kNever) return in_place_of;
  std::vector<bool> taken(values.size(), false);
  for (size_t v = 0; v < values.size(); ++v) {
    for (const int u : values[v].in_place_of) {
      if (taken[u] || !CanTakeOver(values[v], values[u])) continue;
      in_place_of[v] = u;
      taken[u] = true;
      break;
    }
  }
  return in_place_of;
}

std::vector<Block> MakeBlocks(std::span<const PlannedValue> values,
                              const std::vector<int>& in_place_of) {
  std::vector<int> by_use(values.size());
  std::iota(by_use.begin(), by_use.end(), 0);
  std::ranges::stable_sort(by_use, {}, [&](int v) { return values[v].first_use; });
  std::vector<Block> blocks;
  std::vector<size_t> block_of(values.size());
  for (const int v : by_use) {
    const PlannedValue& value = values[v];
    // The value whose storage is reused was first used earlier, so its block exists.
    const int previous = in_place_of[v];
    block_of[v] = previous < 0 ? blocks.size() : block_of[previous];
    if (previous < 0) blocks.push_back({.first_use = value.first_use});
    Block& block = blocks[block_of[v]];
    block.bytes = std::max(block.bytes, value.bytes);
    block.alignment = std::max(block.alignment, value.alignment);
    block.last_use = value.last_use;
    block.members.push_back(v);
  }
  return blocks;
}

void Sort(std::vector<Block>& blocks, Order order) {
  const auto key = [order](const Block& block) {
    const int64_t steps = int64_t{block.last_use} - block.first_use + 1;
    const int64_t area = block.bytes / 64 * steps;
    const int member = block.members.front();
    switch (order) {
      case Order::kFirstUse:
        return std::tuple<int64_t, int64_t, int>(block.first_use, -block.bytes, member);
      case Order::kArea:
        return std::tuple<int64_t, int64_t, int>(-area, block.first_use, member);
      case Order::kSize:
        break;
    }
    return std::tuple<int64_t, int64_t, int>(-block.bytes, -steps, member);
  };
  std::ranges::sort(blocks, {}, key);
}

// Returns the aligned offset in the smallest gap that holds `block`. Gaps lie below or between the
// allocated blocks that are alive at the same time as `block`. If no gap holds `block`, returns the
// aligned end of these blocks.
int64_t FindOffset(const Block& block, const std::vector<const Block*>& allocated_by_offset) {
  int64_t end = 0;  // end of all blocks so far
  int64_t best = -1;
  int64_t best_gap = std::numeric_limits<int64_t>::max();
  for (const Block* other : allocated_by_offset) {
    if (!block.MeetsInTime(*other)) continue;
    const int64_t start = RoundUp(end, block.alignment);
    const int64_t gap = other->offset - end;
    if (start + block.bytes <= other->offset && gap < best_gap) {
      best = start;
      best_gap = gap;
    }
    end = std::max(end, other->offset + other->bytes);
  }
  return best >= 0 ? best : RoundUp(end, block.alignment);
}

MemoryPlan AssignOffsets(std::vector<Block> blocks, Order order,
                         const std::vector<int>& in_place_of) {
  Sort(blocks, order);
  MemoryPlan plan;
  plan.in_place_of = in_place_of;
  plan.offset.resize(in_place_of.size());
  std::vector<const Block*> allocated;  // by offset
  for (Block& block : blocks) {
    block.offset = block.bytes == 0 ? 0 : FindOffset(block, allocated);
    for (const int v : block.members) plan.offset[v] = block.offset;
    plan.total_bytes = std::max(plan.total_bytes, block.offset + block.bytes);
    if (block.bytes == 0) continue;
    allocated.insert(std::ranges::upper_bound(allocated, block.offset, {}, &Block::offset), &block);
  }
  return plan;
}

Status VerifyTakeOver(std::span<const PlannedValue> values, const MemoryPlan& plan, int v) {
  const int u = plan.in_place_of[v];
  if (u == -1) return {};
  const auto fail = [&](const char* why) {
    return Fail(ErrorCode::kInternal, "value {} cannot take over the storage of value {}: {}", v, u,
                why);
  };
  if (std::ranges::find(values[v].in_place_of, u) == values[v].in_place_of.end())
    return fail("it is not a candidate");
  if (values[u].last_use != values[v].first_use) return fail("it does not begin where that ends");
  if (values[u].first_use >= values[u].last_use || values[v].first_use >= values[v].last_use)
    return fail("one of them is used at a single step");
  if (values[u].bytes < values[v].bytes) return fail("it is larger");
  if (plan.offset[u] != plan.offset[v]) return fail("the offsets differ");
  if (std::ranges::count(plan.in_place_of, u) > 1) return fail("another value did too");
  return {};
}

Status VerifyOffset(const PlannedValue& value, const MemoryPlan& plan, size_t v) {
  const int64_t offset = plan.offset[v];
  if (offset < 0 || offset % value.alignment != 0)
    return Fail(ErrorCode::kInternal, "value {} has offset {}, expected a multiple of {}", v,
                offset, value.alignment);
  if (offset + value.bytes > plan.total_bytes)
    return Fail(ErrorCode::kInternal, "value {} ends at {}, beyond the plan's {} bytes", v,
                offset + value.bytes, plan.total_bytes);
  return {};
}

bool Overlap(std::span<const PlannedValue> values, const MemoryPlan& plan, int u, int v) {
  const bool in_time =
      values[u].first_use <= values[v].last_use && values[v].first_use <= values[u].last_use;
  const bool in_space = plan.offset[u] < plan.offset[v] + values[v].bytes &&
                        plan.offset[v] < plan.offset[u] + values[u].bytes;
  const bool empty = values[u].bytes == 0 || values[v].bytes == 0;
  return in_time && in_space && !empty;
}

}  // namespace

MemoryPlan PlanMemory(std::span<const PlannedValue> values) {
  for (const PlannedValue& value : values) {
    TUNEC_CHECK(value.bytes >= 0 && value.first_use <= value.last_use,
                "a value of {} bytes, steps {} to {}", value.bytes, value.first_use,
                value.last_use);
    for (const int u : value.in_place_of)
      TUNEC_CHECK(u >= 0 && u < static_cast<int>(values.size()), "in-place candidate {}", u);
  }
  MemoryPlan best;
  best.total_bytes = std::numeric_limits<int64_t>::max();
  // Plans with reuse in place come first and win at equal totals, because data stays in the cache.
  for (const Reuse reuse : {Reuse::kInPlace, Reuse::kNever}) {
    const std::vector<int> in_place_of = ChooseReuse(values, reuse);
    const std::vector<Block> blocks = MakeBlocks(values, in_place_of);
    for (const Order order : {Order::kSize, Order::kArea, Order::kFirstUse}) {
      MemoryPlan plan = AssignOffsets(blocks, order, in_place_of);
      if (plan.total_bytes < best.total_bytes) best = std::move(plan);
    }
  }
  return best;
}

Status VerifyPlan(std::span<const PlannedValue> values, const MemoryPlan& plan) {
  if (plan.offset.size() != values.size() || plan.in_place_of.size() != values.size())
    return Fail(ErrorCode::kInternal, "the plan has {} offsets for {} values", plan.offset.size(),
                values.size());
  const int count = static_cast<int>(values.size());
  for (int v = 0; v < count; ++v) {
    TUNEC_RETURN_IF_ERROR(VerifyOffset(values[v], plan, v));
    if (plan.in_place_of[v] < -1 || plan.in_place_of[v] >= count)
      return Fail(ErrorCode::kInternal, "value {} took over value {} of {}", v, plan.in_place_of[v],
                  count);
    TUNEC_RETURN_IF_ERROR(VerifyTakeOver(values, plan, v));
    for (int u = 0; u < v; ++u) {
      const bool took_over = plan.in_place_of[v] == u || plan.in_place_of[u] == v;
      if (!took_over && Overlap(values, plan, u, v))
        return Fail(ErrorCode::kInternal, "values {} and {} are alive together and overlap", u, v);
    }
  }
  return {};
}

}  // namespace tunec
