// The computation of value-based dependences. A read depends on the write that stored the value. A
// write depends on the accesses to the value that it overwrites. A reduction adds to old values and
// therefore hides no earlier write. So a read of the sum depends on every addition.
#include "polyhedral/dependences.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "polyhedral/dependence_data.h"
#include "polyhedral/relations.h"
#include "support/check.h"

namespace tunec {
namespace {

StatementId StatementOf(const isl::Map& map, isl_dim_type side) {
  const char* name = isl_map_get_tuple_name(map.get(), side);
  TUNEC_CHECK(name != nullptr && name[0] == 'S', "a dependence of no statement");
  const std::string_view number = name + 1;
  int id = 0;
  std::from_chars(number.data(), number.data() + number.size(), id);
  return StatementId(id);
}

}  // namespace

Status Dependences::Data::Append(const WrittenStorage& storage, DependenceKind kind,
                                 isl_union_flow* flow, std::vector<Dependence>& into) const {
  const isl::UnionMap all(isl_union_flow_get_may_dependence(flow));
  isl_union_flow_free(flow);
  isl_map_list* list = all.ok() ? isl_union_map_get_map_list(all.get()) : nullptr;
  if (list == nullptr) {
    return isl::Failure(context.get(), "the dependences of tensor " + tensors[storage.home].name);
  }
  for (int i = 0; i < isl_map_list_n_map(list); ++i) {
    isl::Map map(isl_map_coalesce(isl_map_list_get_map(list, i)));
    if (!map.ok()) continue;  // the quota was reached; the next use of isl reports it
    const StatementId from = StatementOf(map, isl_dim_in);
    const StatementId to = StatementOf(map, isl_dim_out);
    into.push_back({storage.home, kind, from, to, std::move(map)});
  }
  isl_map_list_free(list);
  return {};
}

// Returns the original order of statement instances, in which one statement runs after the other.
// All additions of a reorderable reduction have the same time, so that isl need not compute their
// order. WithinReductions adds their dependences.
isl::UnionMap Dependences::Data::OriginalOrder() const {
  size_t length = 1;
  for (const Statement& statement : statements) {
    length = std::max(length, statement.iterators.size() + 1);
  }
  isl::UnionMap order(isl_union_map_read_from_str(context.get(), "{ }"));
  for (const StatementId s : statements.ids()) {
    std::vector<IndexExpr> time = {IndexExpr(s.number())};
    for (const VarId i : statements[s].iterators.ids()) {
      if (!IsReorderable(tensors, statements[s])) {
        time.push_back(IndexExpr::Var(i));
      }
    }
    time.resize(length, IndexExpr(0));
    const std::string text = TimeText(s, statements[s], time);
    order = isl::UnionMap(isl_union_map_union(
        order.take(), isl_union_map_read_from_str(context.get(), text.c_str())));
  }
  return order;
}

// Returns for each access the relation from instances of its statement to elements. Callers must
// reuse the results, because isl parses text slowly.
std::vector<isl::Map> Dependences::Data::Elements(const WrittenStorage& storage) const {
  std::vector<isl::Map> elements;
  for (const Access& access : storage.accesses) {
    const std::string text = AccessText(statements[access.statement], storage, access);
    elements.emplace_back(isl_map_read_from_str(context.get(), text.c_str()));
  }
  return elements;
}

// For each write of a reorderable reduction, adds the dependence of every addition to an element on
// all earlier additions of the same write to the element.
void Dependences::Data::WithinReductions(const WrittenStorage& storage,
                                         const std::vector<isl::Map>& elements,
                                         std::vector<Dependence>& into) const {
  for (size_t i = 0; i < elements.size(); ++i) {
    const Access& access = storage.accesses[i];
    if (!access.writes || !IsReorderable(tensors, statements[access.statement])) continue;
    const isl::Map& element = elements[i];
    isl::Map pairs(isl_map_apply_range(element.copy(), isl_map_reverse(element.copy())));
    isl_map* before = isl_map_lex_lt(isl_space_domain(isl_map_get_space(pairs.get())));
    isl::Map instances(isl_map_intersect(pairs.take(), before));
    into.push_back({storage.home, DependenceKind::kFlow, access.statement, access.statement,
                    std::move(instances)});
  }
}

Status Dependences::Data::Compute(size_t position) {
  const WrittenStorage& storage = storages[position];
  const isl::UnionMap order = OriginalOrder();
  const std::vector<isl::Map> elements = Elements(storage);
  const auto of = [&](bool (*accepts)(const Access&)) {
    isl::UnionMap all(isl_union_map_read_from_str(context.get(), "{ }"));
    for (size_t i = 0; i < elements.size(); ++i) {
      if (!accepts(storage.accesses[i])) continue;
      all = isl::UnionMap(
          isl_union_map_union(all.take(), isl_union_map_from_map(elements[i].copy())));
    }
    return all;
  };
  const isl::UnionMap reads = of([](const Access& a) { return a.reads; });
  const isl::UnionMap writes = of([](const Access& a) { return a.writes; });
  const isl::UnionMap replacing = of([](const Access& a) { return a.replaces; });
  const isl::UnionMap adding = of([](const Access& a) { return a.writes && !a.replaces; });
  const isl::UnionMap touching = of([](const Access& a) { return a.reads || !a.replaces; });
  std::vector<Dependence> found;
  const auto add = [&](DependenceKind kind, const isl::UnionMap& sink, const isl::UnionMap& may) {
    isl_union_access_info* info = isl_union_access_info_from_sink(sink.copy());
    info = isl_union_access_info_set_must_source(info, replacing.copy());
    info = isl_union_access_info_set_may_source(info, may.copy());
    info = isl_union_access_info_set_schedule_map(info, order.copy());
    return Append(storage, kind, isl_union_access_info_compute_flow(info), found);
  };
  TUNEC_RETURN_IF_ERROR(add(DependenceKind::kFlow, reads, adding));
  TUNEC_RETURN_IF_ERROR(add(DependenceKind::kReuse, writes, touching));
  WithinReductions(storage, elements, found);
  if (isl_ctx_last_error(context.get()) == isl_error_quota) {
    return isl::Failure(context.get(), "the dependences of tensor " + tensors[storage.home].name);
  }
  computed[position] = std::move(found);
  return {};
}

isl_ctx* Dependences::Data::Begin() {
  isl_ctx_reset_error(context.get());
  isl_ctx_reset_operations(context.get());
  return context.get();
}

Result<const std::vector<Dependence>*> Dependences::Data::FindDependencesThrough(size_t storage) {
  if (!computed[storage]) TUNEC_RETURN_IF_ERROR(Compute(storage));
  return &*computed[storage];
}

Dependences::Dependences(std::unique_ptr<Data> data) : data_(std::move(data)) {}
Dependences::Dependences(Dependences&&) noexcept = default;
Dependences& Dependences::operator=(Dependences&&) noexcept = default;
Dependences::~Dependences() = default;

Dependences Dependences::Of(const Tensors& tensors, const Statements& statements,
                            unsigned long operations) {
  auto data = std::make_unique<Data>();
  isl_ctx_set_max_operations(data->context.get(), operations);
  data->tensors = tensors;
  data->statements = statements;
  data->storages = WrittenStorages(tensors, statements);
  data->computed.resize(data->storages.size());
  return Dependences(std::move(data));
}

std::string IslVersion() {
  std::string version = isl_version();
  while (!version.empty() && version.back() == '\n') version.pop_back();
  return version;
}

}  // namespace tunec
