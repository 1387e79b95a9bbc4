#include "autotune/fault.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

namespace tunec {
namespace {

constexpr std::array<std::pair<Fault, std::string_view>, 10> kNames = {{
    {Fault::kNone, "none"},
    {Fault::kDropInit, "drop init"},
    {Fault::kReverseIndex, "reverse index"},
    {Fault::kDropTerm, "drop term"},
    {Fault::kTwoSteps, "two steps"},
    {Fault::kOverrun, "overrun"},
    {Fault::kCrash, "crash"},
    {Fault::kHang, "hang"},
    {Fault::kHangMeasuring, "hang measuring"},
    {Fault::kExhaust, "exhaust"},
}};

Body* BodyOf(NestNode& node) {
  if (auto* loop = std::get_if<Loop>(&node.value)) return &loop->body;
  if (auto* condition = std::get_if<If>(&node.value)) return &condition->body;
  if (auto* alloc = std::get_if<Alloc>(&node.value)) return &alloc->body;
  return nullptr;
}

bool IsInit(const NestNode& node) {
  const auto* store = std::get_if<Store>(&node.value);
  return store != nullptr && store->statement.ends_with(".init");
}

void DropInits(Body& body) {
  std::erase_if(body, IsInit);
  for (NestNode& node : body) {
    if (Body* inner = BodyOf(node)) DropInits(*inner);
  }
  // A loop around nothing is not a loop nest any more.
  std::erase_if(body, [](NestNode& node) {
    const Body* inner = BodyOf(node);
    return inner != nullptr && inner->empty();
  });
}

// Calls `change` on stores until it says that it has changed one.
bool ChangeStore(Body& body, const std::function<bool(Store&)>& change) {
  for (NestNode& node : body) {
    if (auto* store = std::get_if<Store>(&node.value); store != nullptr && change(*store)) {
      return true;
    }
    Body* inner = BodyOf(node);
    if (inner != nullptr && ChangeStore(*inner, change)) return true;
  }
  return false;
}

bool ReverseRead(const LoopNest& nest, Store& store) {
  for (Read& read : store.reads) {
    const Tensor& tensor = nest.tensors[read.tensor];
    if (tensor.role != TensorRole::kInput || read.index.empty()) continue;
    if (tensor.shape.back() < 2) continue;
    read.index.back() = IndexExpr(tensor.shape.back() - 1) - read.index.back();
    return true;
  }
  return false;
}

bool ShiftWrite(const LoopNest& nest, Store& store) {
  for (Write& write : store.writes) {
    if (nest.tensors[write.tensor].role != TensorRole::kOutput || write.index.empty()) continue;
    write.index.front() += IndexExpr(1);
    return true;
  }
  return false;
}

// Whether the body combines values over the loop's iterations.
bool Reduces(Body& body, VarId loop) {
  return ChangeStore(body, [&](const Store& store) {
    const auto uses = [&](const IndexExpr& index) { return index.Uses(loop); };
    return store.reducer && std::ranges::none_of(store.writes[0].index, uses);
  });
}

// Ends the first loop over a reduction one iteration early.
bool DropTerm(Body& body) {
  for (NestNode& node : body) {
    auto* loop = std::get_if<Loop>(&node.value);
    if (loop != nullptr && Reduces(loop->body, loop->var)) {
      for (IndexExpr& upper : loop->upper) upper -= IndexExpr(1);
      return true;
    }
    Body* inner = BodyOf(node);
    if (inner != nullptr && DropTerm(*inner)) return true;
  }
  return false;
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

}  // namespace

std::string_view Name(Fault fault) {
  for (const auto& [value, name] : kNames) {
    if (value == fault) return name;
  }
  return "none";
}

std::optional<Fault> ParseFault(std::string_view name) {
  for (const auto& [value, text] : kNames) {
    if (text == name) return value;
  }
  return std::nullopt;
}

LoopNest Corrupt(LoopNest nest, Fault fault) {
  bool changed = false;
  for (Phase& phase : nest.phases) {
    if (fault == Fault::kDropInit) DropInits(phase.body);
    if (changed) continue;
    if (fault == Fault::kReverseIndex) {
      changed = ChangeStore(phase.body, [&](Store& store) { return ReverseRead(nest, store); });
    }
    if (fault == Fault::kDropTerm) changed = DropTerm(phase.body);
    if (fault == Fault::kTwoSteps) changed = ChangeStore(phase.body, MoveSteps);
    if (fault == Fault::kOverrun) {
      changed = ChangeStore(phase.body, [&](Store& store) { return ShiftWrite(nest, store); });
    }
  }
  std::erase_if(nest.phases, [](const Phase& phase) { return phase.body.empty(); });
  return nest;
}

void Misbehave(Fault fault) {
  if (fault == Fault::kCrash) std::abort();
  if (fault == Fault::kHang) Hang();
  if (fault == Fault::kExhaust) Exhaust();
}

void MisbehaveMeasuring(Fault fault) {
  if (fault == Fault::kHangMeasuring) Hang();
}

}  // namespace tunec
