#include "polyhedral/explain/describe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "polyhedral/dependence_data.h"
#include "polyhedral/relations.h"

namespace tunec {
namespace {

std::string TextOf(char* raw) {
  std::string text = raw ? raw : "";
  free(raw);
  return text;
}

// Returns isl's text of the domain, with the statement's and iterators' names, not S0, i0, ...
std::string DomainWithNames(isl_ctx* ctx, StatementId id, const Statement& statement) {
  isl_set* set = isl_set_coalesce(isl_set_read_from_str(ctx, DomainText(id, statement).c_str()));
  set = isl_set_set_tuple_name(set, statement.name.c_str());
  for (const VarId i : statement.iterators.ids()) {
    set = isl_set_set_dim_name(set, isl_dim_set, static_cast<unsigned>(i.index()),
                               statement.iterators[i].name.c_str());
  }
  const isl::Set named(set);
  return TextOf(isl_set_to_str(named.get()));
}

std::string DependenceWithNames(const Dependence& dependence, const Statement& from,
                                const Statement& to) {
  isl_map* map = dependence.instances.copy();
  const auto name = [&](isl_dim_type side, const Statement& statement) {
    map = isl_map_set_tuple_name(map, side, statement.name.c_str());
    for (const VarId i : statement.iterators.ids()) {
      map = isl_map_set_dim_name(map, side, static_cast<unsigned>(i.index()),
                                 statement.iterators[i].name.c_str());
    }
  };
  name(isl_dim_in, from);
  name(isl_dim_out, to);
  const isl::Map named(map);
  return TextOf(isl_map_to_str(named.get()));
}

std::string Tuple(const std::string& name, const std::vector<std::string>& entries) {
  return fmt::format("{}[{}]", name, fmt::join(entries, ", "));
}

std::string Tuple(const std::string& name, const std::vector<IndexExpr>& entries,
                  const Statement& statement) {
  const std::vector<std::string> names = statement.IteratorNames();
  std::vector<std::string> texts;
  for (const IndexExpr& entry : entries) texts.push_back(Print(entry, names));
  return Tuple(name, texts);
}

std::string AccessesOf(const Tensors& tensors, const Statement& statement) {
  const std::vector<std::string> names = statement.IteratorNames();
  std::string text;
  const auto add = [&](std::string_view verb, const auto& access, const std::string& where) {
    text += fmt::format("  {}: {{ {} -> {}{} }}\n", verb, Tuple(statement.name, names),
                        Tuple(tensors[access.tensor].name, access.index, statement), where);
  };
  for (const Read& read : statement.reads) {
    std::string where;
    for (size_t i = 0; read.guard && i < read.guard->nonnegative.size(); ++i) {
      where += fmt::format("{}{} >= 0", i == 0 ? " : " : " and ",
                           Print(read.guard->nonnegative[i], names));
    }
    add("reads", read, where);
  }
  for (const Write& write : statement.writes) {
    add(statement.reducer ? "adds to" : "writes", write, "");
  }
  return text;
}

}  // namespace

Result<std::string> PrintFlow(const Dependences& dependences) {
  Dependences::Data& data = dependences.data();
  data.Begin();
  std::string text;
  for (size_t i = 0; i < data.storages.size(); ++i) {
    TUNEC_ASSIGN(const std::vector<Dependence>* through, data.FindDependencesThrough(i));
    for (const Dependence& dependence : *through) {
      if (dependence.kind != DependenceKind::kFlow) continue;
      text += fmt::format("{}: {}\n", data.tensors[dependence.tensor].name,
                          TextOf(isl_map_to_str(dependence.instances.get())));
    }
  }
  return text;
}

Result<std::string> Describe(const Dependences& dependences, const ScheduleTree& tree) {
  Dependences::Data& data = dependences.data();
  isl_ctx* ctx = data.Begin();
  const Statements& statements = data.statements;
  std::string text = "iteration domains\n";
  for (const StatementId s : statements.ids()) {
    text += fmt::format("  {}\n", DomainWithNames(ctx, s, statements[s]));
  }
  text += "accesses\n";
  for (const Statement& statement : statements) text += AccessesOf(data.tensors, statement);
  text += "schedule\n";
  for (const StatementId s : statements.ids()) {
    text +=
        fmt::format("  {{ {} -> {} }}\n", Tuple(statements[s].name, statements[s].IteratorNames()),
                    Tuple("", TimeOf(tree, s), statements[s]));
  }
  text += "dependences\n";
  for (size_t i = 0; i < data.storages.size(); ++i) {
    TUNEC_ASSIGN(const std::vector<Dependence>* through, data.FindDependencesThrough(i));
    for (const Dependence& dependence : *through) {
      const bool own = dependence.from == dependence.to &&
                       IsReorderable(data.tensors, statements[dependence.from]);
      std::string_view kind = own ? "reduction" : "flow";
      if (dependence.kind == DependenceKind::kReuse) kind = "storage";
      text += fmt::format(
          "  {} through {}: {}\n", kind, data.tensors[dependence.tensor].name,
          DependenceWithNames(dependence, statements[dependence.from], statements[dependence.to]));
    }
  }
  return text;
}

}  // namespace tunec
