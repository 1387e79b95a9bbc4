// The printer of a Compute.
#include "ir/compute.h"
#include "ir/text/print_expr.h"
#include "ir/text/print_statement.h"

namespace tunec {
namespace {

std::string PrintIterator(const Iterator& it) {
  std::string text = fmt::format("{}: {}", PrintName(it.name), it.extent);
  if (it.kind == IteratorKind::kReduction) text += " reduction";
  if (it.kind == IteratorKind::kSequential) text += " sequential";
  return text;
}

std::string PrintStatement(const Statement& statement, const Tensors& tensors) {
  const auto variable = [&](VarId v) {
    const bool known = statement.iterators.contains(v);
    return known ? PrintName(statement.iterators[v].name) : fmt::format("\"?{}\"", v);
  };
  const TextNames names{.variable = variable, .read = {}, .loaded = [](int slot) {
                          return fmt::format("@{}", slot);
                        }};
  std::string text = "  " + PrintName(statement.name) + "[";
  for (const VarId d : statement.iterators.ids()) {
    if (d.index() > 0) text += ", ";
    text += PrintIterator(statement.iterators[d]);
  }
  text += "]";
  if (!statement.domain.empty()) text += " where " + PrintConditions(statement.domain, names);
  text += ":\n";
  const Assignment assignment{statement.reads, statement.writes, statement.values,
                              statement.reducer};
  for (const std::string& line : PrintAssignment(assignment, tensors, variable)) {
    text += "    " + line + "\n";
  }
  return text;
}

}  // namespace

std::string Print(const Compute& compute) {
  std::string text = "compute " + PrintName(compute.name) + " {\n";
  for (const Tensor& tensor : compute.tensors) {
    text += "  " + PrintTensor(tensor, compute.tensors) + "\n";
  }
  for (const Statement& statement : compute.statements) {
    text += PrintStatement(statement, compute.tensors);
  }
  return text + "}\n";
}

}  // namespace tunec
