#include "ir/nest/visit_loop_nest.h"

namespace tunec {
namespace {

template <class Access>
void Report(const std::vector<Access>& accesses, bool writes,
            const std::function<void(TensorId, bool)>& visit) {
  for (const Access& access : accesses) visit(access.tensor, writes);
}

}  // namespace

void ForEachBody(NestNode& node, const std::function<void(Body&)>& visit) {
  Visit(
      node, [&](Loop& loop) { visit(loop.body); }, [&](If& branch) { visit(branch.body); },
      [&](Alloc& alloc) { visit(alloc.body); }, [&](Tile& tile) { visit(tile.body); },
      [&](Roles& roles) {
        for (Role& role : roles.roles) visit(role.body);
      },
      [](const LeafNode auto&) {});
}

void ForEachBody(const NestNode& node, const std::function<void(const Body&)>& visit) {
  // `visit` receives the bodies as const, so the cast is safe.
  ForEachBody(const_cast<NestNode&>(node), [&](Body& body) { visit(body); });
}

void VisitNodes(const Body& body, const std::function<void(const NestNode&)>& visit) {
  for (const NestNode& node : body) {
    visit(node);
    ForEachBody(node, [&](const Body& inner) { VisitNodes(inner, visit); });
  }
}

void ForEachAccess(const NestNode& node, const std::function<void(TensorId, bool)>& visit) {
  Visit(
      node,
      [&](const Store& store) {
        Report(store.reads, false, visit);
        Report(store.writes, true, visit);
      },
      [&](const AsyncCopy& copy) {
        visit(copy.from.tensor, false);
        visit(copy.to.tensor, true);
      },
      [&](const Shuffle& shuffle) {
        visit(shuffle.from.tensor, false);
        visit(shuffle.to.tensor, true);
      },
      [&](const Prefetch& prefetch) { visit(prefetch.address.tensor, false); }, [](const Loop&) {},
      [](const If&) {}, [](const Alloc&) {}, [](const Arrive&) {}, [](const Wait&) {},
      [](const Barrier&) {}, [](const Roles&) {}, [](const Tile&) {});
}

}  // namespace tunec
