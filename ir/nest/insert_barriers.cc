// The set of tensors touched since the last barrier is carried through a block's work, part by
// part. A barrier is inserted before a part that conflicts with the set, and before an Alloc that
// may reuse touched bytes. A loop begins each iteration also with the set left by the previous
// iteration. This set depends on the barriers inside the loop, so the loop is walked until the set
// stops growing. Storage filled by a pipelined loop is excluded: a barrier after each wait of the
// loop orders the accesses (polyhedral/generate/pipeline.cc).
#include "ir/nest/insert_barriers.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "ir/nest/visit_loop_nest.h"
#include "support/check.h"

namespace tunec {
namespace {

// The tensors that one or several parts of the work read and write, without private storage.
struct TouchedTensors {
  std::set<TensorId> read;
  std::set<TensorId> written;

  void Add(const TouchedTensors& other) {
    read.insert(other.read.begin(), other.read.end());
    written.insert(other.written.begin(), other.written.end());
  }
  bool Includes(const TouchedTensors& other) const {
    return std::ranges::includes(read, other.read) && std::ranges::includes(written, other.written);
  }
};

bool Meet(const std::set<TensorId>& a, const std::set<TensorId>& b) {
  return std::ranges::any_of(a, [&](TensorId tensor) { return b.contains(tensor); });
}

bool Conflict(const TouchedTensors& a, const TouchedTensors& b) {
  return Meet(a.written, b.written) || Meet(a.written, b.read) || Meet(a.read, b.written);
}

// Returns whether the node is a loop, an If or an Alloc that all threads execute, with loops over
// threads inside. Roles count as one access of the block.
bool IsCommon(const NestNode& node) {
  return Visit(
      node, [](const Loop& loop) { return !IsBlock(loop.kind) && HoldsBlockLoop(loop.body); },
      [](const If& branch) { return HoldsBlockLoop(branch.body); },
      [](const Alloc& alloc) { return HoldsBlockLoop(alloc.body); },
      [](const Tile&) { return false; }, [](const Roles&) { return false; },
      [](const LeafNode auto&) { return false; });
}

class Inserter {
 public:
  explicit Inserter(const LoopNest& nest) : nest_(nest) {
    ForEach<Alloc>(nest, [&](const Alloc& alloc) {
      scopes_[alloc.tensor] = alloc.scope;
      if (alloc.stages > 1) staged_.insert(alloc.tensor);
    });
  }

  Body Rewrite(const Body& body, TouchedTensors& touched) {
    Body result;
    for (const NestNode& node : body) {
      if (std::holds_alternative<Barrier>(node.value)) touched = {};
      if (IsCommon(node)) {
        Enter(node, touched, result);
        continue;
      }
      const TouchedTensors own = TouchedBy(node);
      if (Conflict(WithoutStaged(own), touched)) Separate(result, touched);
      touched.Add(own);
      result.push_back(node);
    }
    return result;
  }

 private:
  static void Separate(Body& body, TouchedTensors& touched) {
    body.emplace_back(Barrier{});
    touched = {};
  }

  TensorId FindAliasOwner(TensorId tensor) const {
    while (nest_.tensors[tensor].alias) tensor = *nest_.tensors[tensor].alias;
    return tensor;
  }

  TouchedTensors TouchedBy(const NestNode& node) const {
    TouchedTensors touched;
    VisitNodes(Body{node}, [&](const NestNode& inner) {
      ForEachAccess(inner, [&](TensorId tensor, bool writes) {
        const auto scope = scopes_.find(tensor);
        if (scope != scopes_.end() && IsPrivate(scope->second)) return;
        (writes ? touched.written : touched.read).insert(FindAliasOwner(tensor));
      });
    });
    return touched;
  }

  TouchedTensors WithoutStaged(TouchedTensors touched) const {
    for (const TensorId tensor : staged_) {
      touched.read.erase(tensor);
      touched.written.erase(tensor);
    }
    return touched;
  }

  // Returns whether a touched tensor is in shared storage whose Alloc has ended. The storage of a
  // new Alloc may use the same bytes.
  bool MayReuse(const TouchedTensors& touched) const {
    const auto ended = [&](TensorId tensor) {
      const auto scope = scopes_.find(tensor);
      return scope != scopes_.end() && scope->second == Scope::kShared && !live_.contains(tensor);
    };
    return std::ranges::any_of(touched.read, ended) || std::ranges::any_of(touched.written, ended);
  }

  // Rewrites the body of a loop that is not over tasks. The end of an iteration may conflict with
  // the start of the next one.
  Body RewriteRepeated(const Body& body, TouchedTensors& touched) {
    while (true) {
      TouchedTensors left = touched;
      Body result = Rewrite(body, left);
      if (touched.Includes(left)) return result;
      touched.Add(left);
    }
  }

  void Enter(const NestNode& node, TouchedTensors& touched, Body& result) {
    Visit(
        node,
        [&](Loop loop) {
          loop.body = NumbersTasks(loop.kind) ? Rewrite(loop.body, touched)
                                              : RewriteRepeated(loop.body, touched);
          result.emplace_back(std::move(loop));
        },
        [&](If branch) {
          const TouchedTensors before = touched;
          branch.body = Rewrite(branch.body, touched);
          touched.Add(before);
          result.emplace_back(std::move(branch));
        },
        [&](Alloc alloc) {
          if (alloc.scope == Scope::kShared && MayReuse(touched)) Separate(result, touched);
          live_.insert(alloc.tensor);
          alloc.body = Rewrite(alloc.body, touched);
          live_.erase(alloc.tensor);
          result.emplace_back(std::move(alloc));
        },
        [](const auto&) { TUNEC_UNREACHABLE("a node that is not common"); });
  }

  const LoopNest& nest_;
  std::map<TensorId, Scope> scopes_;
  std::set<TensorId> staged_;  // tensors with several stages
  std::set<TensorId> live_;    // tensors that are allocated here
};

}  // namespace

LoopNest InsertBarriers(LoopNest nest) {
  Inserter inserter(nest);
  for (Phase& phase : nest.phases) {
    if (!HoldsBlockLoop(phase.body)) continue;
    TouchedTensors touched;
    phase.body = inserter.Rewrite(phase.body, touched);
  }
  return nest;
}

}  // namespace tunec
