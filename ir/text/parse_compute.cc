#include <algorithm>

#include "ir/compute.h"
#include "ir/text/parse_statement.h"

namespace tunec {
namespace {

Result<Iterators> ParseIterators(Lexer& lexer) {
  Iterators iterators;
  TUNEC_RETURN_IF_ERROR(lexer.Expect("["));
  if (lexer.TryTake("]")) return iterators;
  do {
    const Token at = lexer.Peek();
    Iterator it;
    TUNEC_ASSIGN(it.name, lexer.ExpectName("an iterator's name"));
    if (std::ranges::find(iterators, it.name, &Iterator::name) != iterators.end()) {
      return FailAt(lexer.LocationOf(at), ErrorCode::kParse, "a second iterator is called {}",
                    it.name);
    }
    TUNEC_RETURN_IF_ERROR(lexer.Expect(":"));
    TUNEC_ASSIGN(it.extent, lexer.ExpectInteger("the iterator's extent"));
    if (lexer.TryTake("reduction")) it.kind = IteratorKind::kReduction;
    if (lexer.TryTake("sequential")) it.kind = IteratorKind::kSequential;
    iterators.push_back(std::move(it));
  } while (lexer.TryTake(","));
  if (!lexer.TryTake("]")) return lexer.Expected("',' or ']'");
  return iterators;
}

Result<Statement> ParseStatement(Lexer& lexer, const Tensors& tensors) {
  Statement statement;
  TUNEC_ASSIGN(statement.name, lexer.ExpectName("a statement's name"));
  TUNEC_ASSIGN(statement.iterators, ParseIterators(lexer));
  const ExprParser::Variables variables = [&](const std::string& name) -> std::optional<VarId> {
    const auto found = std::ranges::find(statement.iterators, name, &Iterator::name);
    if (found == statement.iterators.end()) return std::nullopt;
    return statement.iterators.id_of(found);
  };
  if (lexer.TryTake("where")) {
    ExprParser conditions(lexer, tensors, variables);
    TUNEC_ASSIGN(statement.domain, conditions.ParseConditions(":"));
  }
  TUNEC_RETURN_IF_ERROR(lexer.Expect(":"));
  TUNEC_ASSIGN(ParsedAssignment assignment, ParseAssignment(lexer, tensors, variables));
  statement.reads = std::move(assignment.reads);
  statement.writes = std::move(assignment.writes);
  statement.values = std::move(assignment.values);
  statement.reducer = std::move(assignment.reducer);
  if (!lexer.Peek().starts_line) return lexer.Expected("the end of the line");
  return statement;
}

}  // namespace

Result<Compute> ParseCompute(std::string_view text, std::string_view file_name) {
  TUNEC_ASSIGN(Lexer lexer, Lexer::Create(text, file_name));
  Compute compute;
  TUNEC_RETURN_IF_ERROR(lexer.Expect("compute"));
  TUNEC_ASSIGN(compute.name, lexer.ExpectName("the name of the compute"));
  TUNEC_RETURN_IF_ERROR(lexer.Expect("{"));
  TUNEC_ASSIGN(compute.tensors, ParseTensors(lexer));
  while (!lexer.TryTake("}")) {
    const Token at = lexer.Peek();
    TUNEC_ASSIGN(Statement statement, ParseStatement(lexer, compute.tensors));
    if (compute.FindStatement(statement.name)) {
      return FailAt(lexer.LocationOf(at), ErrorCode::kParse, "a second statement is called {}",
                    statement.name);
    }
    compute.statements.push_back(std::move(statement));
  }
  if (!lexer.IsAtEnd()) return lexer.Expected("the end of the text");
  return compute;
}

}  // namespace tunec
