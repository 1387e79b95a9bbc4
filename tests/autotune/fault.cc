#include "tests/autotune/fault.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "ir/nest/rewrite_loop_nest.h"
#include "kernel/loop_pipeline.h"
#include "support/check.h"

namespace tunec::testing {
namespace {

constexpr std::string_view kMark = "# fault: ";

constexpr std::array<std::pair<Fault, std::string_view>, 11> kNames = {{
    {Fault::kNone, "none"},
    {Fault::kDropInit, "drop init"},
    {Fault::kReverseIndex, "reverse index"},
    {Fault::kDropTerm, "drop term"},
    {Fault::kTwoSteps, "two steps"},
    {Fault::kOverrun, "overrun"},
    {Fault::kOverrunPacked, "overrun packed"},
    {Fault::kCrash, "crash"},
    {Fault::kHang, "hang"},
    {Fault::kHangMeasuring, "hang measuring"},
    {Fault::kExhaust, "exhaust"},
}};

LoopNest DropInits(LoopNest nest) {
  // Loops, conditions and allocations whose bodies become empty are removed.
  const auto unless_empty = [](auto node) {
    return node.body.empty() ? Body() : BodyOf(std::move(node));
  };
  nest = Rewrite(std::move(nest), Overloaded{
                                      [](Store store) {
                                        const bool is_init = store.statement.ends_with(".init");
                                        return is_init ? Body() : BodyOf(std::move(store));
                                      },
                                      [&](Loop loop) { return unless_empty(std::move(loop)); },
                                      [&](If branch) { return unless_empty(std::move(branch)); },
                                      [&](Alloc alloc) { return unless_empty(std::move(alloc)); },
                                  });
  std::erase_if(nest.phases, [](const Phase& phase) { return phase.body.empty(); });
  return nest;
}

// Calls `change` on stores until it returns true.
LoopNest ChangeStore(LoopNest nest, const std::function<bool(Store&)>& change) {
  bool changed = false;
  return Rewrite(std::move(nest), [&](Store store) {
    changed = changed || change(store);
    return store;
  });
}

bool ReverseRead(const Tensors& tensors, Store& store) {
  for (Read& read : store.reads) {
    const Tensor& tensor = tensors[read.tensor];
    if (tensor.role != TensorRole::kInput || read.index.empty()) continue;
    if (tensor.shape.back() < 2) continue;
    read.index.back() = IndexExpr(tensor.shape.back() - 1) - read.index.back();
    return true;
  }
  return false;
}

bool ShiftWrite(const Tensors& tensors, Store& store) {
  for (Write& write : store.writes) {
    if (tensors[write.tensor].role != TensorRole::kOutput || write.index.empty()) continue;
    write.index.front() += IndexExpr(1);
    return true;
  }
  return false;
}

// Returns true if the body combines values over the loop's iterations.
bool Reduces(const Loop& loop) {
  bool reduces = false;
  ForEach<Store>(loop.body, [&](const Store& store) {
    const auto uses = [&](const IndexExpr& index) { return index.Uses(loop.var); };
    reduces |= store.reducer && std::ranges::none_of(store.writes[0].index, uses);
  });
  return reduces;
}

// Ends the first loop over a reduction one iteration early.
LoopNest DropTerm(LoopNest nest) {
  std::optional<VarId> first;
  ForEach<Loop>(nest, [&](const Loop& loop) {
    if (!first && Reduces(loop)) first = loop.var;
  });
  return Rewrite(std::move(nest), [&](Loop loop) {
    if (loop.var != first) return loop;
    for (IndexExpr& upper : loop.upper) upper -= IndexExpr(1);
    return loop;
  });
}

// Repeats an innermost reduction loop 2^50 times, so that the kernel does not end during a test.
LoopNest Repeat(LoopNest nest) {
  const auto again = static_cast<VarId>(nest.variables.size());
  nest.variables.push_back("again");
  bool found = false;
  return Rewrite(std::move(nest), [&](Loop loop) {
    if (found || !Reduces(loop)) return loop;
    found = true;
    return Loop{.var = again,
                .lower = {IndexExpr(0)},
                .upper = {IndexExpr(int64_t{1} << 50)},
                .body = BodyOf(std::move(loop))};
  });
}

bool MoveSteps(Store& store) {
  bool moved = false;
  for (Expr& value : store.values) {
    value = Transform(value, [&](const Expr& expr) {
      if (!expr.Is(ScalarOp::kRound)) return expr;
      moved = true;
      return expr + Expr::Constant(2.0, expr.type());
    });
  }
  return moved;
}

void Hang() {
  for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

void Exhaust() {
  constexpr size_t kChunk = size_t{64} << 20;
  std::vector<std::unique_ptr<char[]>> chunks;
  for (;;) {
    chunks.push_back(std::make_unique_for_overwrite<char[]>(kChunk));
    std::memset(chunks.back().get(), 1, kChunk);
  }
}

Fault FaultOf(std::string_view schedule) {
  const size_t mark = schedule.find(kMark);
  if (mark == std::string_view::npos) return Fault::kNone;
  const std::string_view rest = schedule.substr(mark + kMark.size());
  const auto named = std::ranges::find(kNames, rest.substr(0, rest.find('\n')),
                                       &std::pair<Fault, std::string_view>::second);
  TUNEC_CHECK(named != kNames.end(), "unknown fault in {}", schedule);
  return named->first;
}

LoopNest Corrupt(LoopNest nest, Fault fault) {
  const Tensors tensors = nest.tensors;
  switch (fault) {
    case Fault::kDropInit:
      return DropInits(std::move(nest));
    case Fault::kReverseIndex:
      return ChangeStore(std::move(nest), [&](Store& s) { return ReverseRead(tensors, s); });
    case Fault::kDropTerm:
      return DropTerm(std::move(nest));
    case Fault::kTwoSteps:
      return ChangeStore(std::move(nest), MoveSteps);
    case Fault::kOverrun:
    case Fault::kOverrunPacked:
      return ChangeStore(std::move(nest), [&](Store& s) { return ShiftWrite(tensors, s); });
    case Fault::kHangMeasuring:
      return Repeat(std::move(nest));
    case Fault::kNone:
    case Fault::kCrash:
    case Fault::kHang:
    case Fault::kExhaust:
      break;
  }
  return nest;
}

void Misbehave(Fault fault) {
  if (fault == Fault::kCrash) std::abort();
  if (fault == Fault::kHang) Hang();
  if (fault == Fault::kExhaust) Exhaust();
}

void PlantFault(LoopPipelineOptions& options, std::string_view schedule) {
  const Fault fault = FaultOf(schedule);
  Misbehave(fault);
  options.plant = [fault](const StageRecord& record, const MutableStageProduct& product) {
    // A nest that packs a weight has a dot in its name: "B.pack".
    const bool packs = record.name.contains('.');
    if (record.stage != "emit" || packs != (fault == Fault::kOverrunPacked)) return;
    LoopNest& nest = *std::get<LoopNest*>(product);
    nest = Corrupt(std::move(nest), fault);
  };
}

}  // namespace

std::string_view Name(Fault fault) {
  return std::ranges::find(kNames, fault, &std::pair<Fault, std::string_view>::first)->second;
}

std::string WithFault(std::string schedule, Fault fault) {
  return schedule.append(kMark).append(Name(fault)).append("\n");
}

CandidateHook PlantedFaults() { return PlantFault; }

}  // namespace tunec::testing
