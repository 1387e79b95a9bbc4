#include "ir/nest/in_place.h"

#include <algorithm>

#include "ir/nest/visit_loop_nest.h"

namespace tunec {
namespace {

bool Touches(const NestNode& node, TensorId tensor) {
  bool touches = false;
  ForEachAccess(node, [&](TensorId accessed, bool) { touches |= accessed == tensor; });
  return touches;
}

class PairTest {
 public:
  PairTest(const LoopNest& nest, InPlacePair pair) : nest_(nest), pair_(pair) {}

  bool Holds() const {
    const Tensor& input = nest_.tensors[pair_.input];
    const Tensor& output = nest_.tensors[pair_.output];
    if (SizeOf(input.type) != SizeOf(output.type)) return false;
    if (StorageElements(input) != StorageElements(output)) return false;
    const size_t reading = PhasesThatRead();
    bool holds = reading > 0;
    for (size_t k = 0; k < reading; ++k) {
      VisitNodes(nest_.phases[k].body,
                 [&](const NestNode& node) { holds = holds && NodeAllows(node); });
    }
    return holds;
  }

 private:
  // Returns the number of phases up to the last one that reads or prefetches the input. Later
  // phases may use the output freely.
  size_t PhasesThatRead() const {
    size_t count = nest_.phases.size();
    while (count > 0 && !PhaseReads(nest_.phases[count - 1])) --count;
    return count;
  }

  bool PhaseReads(const Phase& phase) const {
    bool reads = false;
    VisitNodes(phase.body, [&](const NestNode& node) { reads |= Touches(node, pair_.input); });
    return reads;
  }

  bool NodeAllows(const NestNode& node) const {
    const bool touches = Touches(node, pair_.input) || Touches(node, pair_.output);
    if (!touches || std::holds_alternative<Prefetch>(node.value)) return true;
    const auto* store = std::get_if<Store>(&node.value);
    return store != nullptr && StoreAllows(*store);
  }

  // Returns whether the store writes one value to the output, without a reducer, at an offset that
  // is not loaded. It must read the input at this offset only, and must not read the output.
  bool StoreAllows(const Store& store) const {
    if (store.reducer || store.writes.size() != 1) return false;
    const Write& write = store.writes[0];
    if (write.tensor != pair_.output) return false;
    const IndexExpr offset = StorageOffset(nest_.tensors[write.tensor], write.index);
    if (offset.UsesLoaded()) return false;
    bool reads_element = false;
    for (const Read& read : store.reads) {
      if (read.tensor == pair_.output) return false;
      if (read.tensor != pair_.input) continue;
      if (StorageOffset(nest_.tensors[read.tensor], read.index) != offset) return false;
      reads_element = true;
    }
    return reads_element;
  }

  const LoopNest& nest_;
  InPlacePair pair_;
};

bool Copies(const Store& store, InPlacePair pair) {
  if (store.reducer || store.writes.size() != 1 || store.reads.size() != 1) return false;
  if (store.reads[0].tensor != pair.input || store.reads[0].guard) return false;
  return store.writes[0].tensor == pair.output && store.values[0].kind() == ExprKind::kRead;
}

bool SharesStorage(const LoopNest& nest, TensorId id) {
  return nest.tensors[id].alias.has_value() ||
         std::ranges::any_of(nest.tensors, [&](const Tensor& t) { return t.alias == id; });
}

}  // namespace

std::vector<InPlacePair> FindInPlacePairs(const LoopNest& nest) {
  std::vector<InPlacePair> pairs;
  for (const TensorId input : Arguments(nest)) {
    if (nest.tensors[input].role != TensorRole::kInput || SharesStorage(nest, input)) continue;
    for (const TensorId output : Arguments(nest)) {
      if (nest.tensors[output].role != TensorRole::kOutput || SharesStorage(nest, output)) continue;
      const InPlacePair pair{input, output};
      if (PairTest(nest, pair).Holds()) pairs.push_back(pair);
    }
  }
  return pairs;
}

std::optional<InPlacePair> CopiedPair(const NestNode& part, const std::vector<InPlacePair>& pairs) {
  for (const InPlacePair& pair : pairs) {
    bool copies = true;
    VisitNodes({part}, [&](const NestNode& node) {
      const bool holds_others =
          std::holds_alternative<Loop>(node.value) || std::holds_alternative<If>(node.value);
      const auto* store = std::get_if<Store>(&node.value);
      copies = copies && (holds_others || (store != nullptr && Copies(*store, pair)));
    });
    if (copies) return pair;
  }
  return std::nullopt;
}

}  // namespace tunec
