#include "ir/nest/in_place.h"

#include <algorithm>

#include "ir/nest/visit_loop_nest.h"

namespace tunec {
namespace {

class PairTest {
 public:
  PairTest(const LoopNest& nest, InPlacePair pair) : nest_(nest), pair_(pair) {}

  bool Holds() const {
    const Tensor& input = nest_.tensors[pair_.input];
    const Tensor& output = nest_.tensors[pair_.output];
    if (SizeOf(input.type) != SizeOf(output.type)) return false;
    if (StorageElements(input) != StorageElements(output)) return false;
    bool holds = true;
    for (const Phase& phase : nest_.phases) {
      VisitNodes(phase.body, [&](const NestNode& node) { holds = holds && NodeAllows(node); });
    }
    return holds;
  }

 private:
  bool Touches(const NestNode& node) const {
    bool touches = false;
    ForEachAccess(node, [&](TensorId tensor, bool) {
      touches |= tensor == pair_.input || tensor == pair_.output;
    });
    return touches;
  }

  bool NodeAllows(const NestNode& node) const {
    if (!Touches(node) || std::holds_alternative<Prefetch>(node.value)) return true;
    const auto* store = std::get_if<Store>(&node.value);
    return store != nullptr && StoreAllows(*store);
  }

  // One write, of the output, whose place is what it reads of the input.
  bool StoreAllows(const Store& store) const {
    if (store.reducer || store.writes.size() != 1) return false;
    const Write& write = store.writes[0];
    if (write.tensor != pair_.output) return false;
    const IndexExpr place = StorageOffset(nest_.tensors[write.tensor], write.index);
    bool reads_place = false;
    for (const Read& read : store.reads) {
      if (read.tensor == pair_.output) return false;
      if (read.tensor != pair_.input) continue;
      if (StorageOffset(nest_.tensors[read.tensor], read.index) != place) return false;
      reads_place = true;
    }
    return reads_place;
  }

  const LoopNest& nest_;
  InPlacePair pair_;
};

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

}  // namespace tunec
