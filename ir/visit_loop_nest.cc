#include "ir/visit_loop_nest.h"

namespace tunec {
namespace {

template <class Access>
void Report(const std::vector<Access>& accesses, bool writes,
            const std::function<void(TensorId, bool)>& visit) {
  for (const Access& access : accesses) visit(access.tensor, writes);
}

}  // namespace

void ForEachBody(const NestNode& node, const std::function<void(const Body&)>& visit) {
  if (const auto* loop = std::get_if<Loop>(&node.value)) return visit(loop->body);
  if (const auto* branch = std::get_if<If>(&node.value)) return visit(branch->body);
  if (const auto* alloc = std::get_if<Alloc>(&node.value)) return visit(alloc->body);
  if (const auto* tile = std::get_if<Tile>(&node.value)) return visit(tile->body);
  if (const auto* roles = std::get_if<Roles>(&node.value)) {
    for (const Role& role : roles->roles) visit(role.body);
  }
}

void VisitNodes(const Body& body, const std::function<void(const NestNode&)>& visit) {
  for (const NestNode& node : body) {
    visit(node);
    ForEachBody(node, [&](const Body& inner) { VisitNodes(inner, visit); });
  }
}

void ForEachAccess(const NestNode& node, const std::function<void(TensorId, bool)>& visit) {
  if (const auto* store = std::get_if<Store>(&node.value)) {
    Report(store->reads, false, visit);
    Report(store->writes, true, visit);
  } else if (const auto* copy = std::get_if<AsyncCopy>(&node.value)) {
    visit(copy->from.tensor, false);
    visit(copy->to.tensor, true);
  } else if (const auto* prefetch = std::get_if<Prefetch>(&node.value)) {
    visit(prefetch->address.tensor, false);
  }
}

}  // namespace tunec
