#include "ir/text/parse_statement.h"

#include <algorithm>

#include "ir/text/layout_text.h"
#include "ir/text/print_statement.h"

namespace tunec {
namespace {

Result<Reducer> ParseReducerLine(Lexer& lexer, ExprParser& exprs) {
  Reducer reducer;
  TUNEC_RETURN_IF_ERROR(lexer.Expect("reducer"));
  TUNEC_ASSIGN(reducer.name, lexer.ExpectName("the reducer's name"));
  TUNEC_RETURN_IF_ERROR(lexer.Expect("identity"));
  TUNEC_ASSIGN(reducer.identity, exprs.ParseExprList());
  TUNEC_RETURN_IF_ERROR(lexer.Expect("combine"));
  TUNEC_ASSIGN(reducer.combine, exprs.ParseExprList());
  if (lexer.TryTake("finalise")) {
    TUNEC_ASSIGN(reducer.finalise, exprs.ParseExprList());
  }
  reducer.reorderable = !lexer.TryTake("sequential");
  return reducer;
}

Status ParseReadLine(Lexer& lexer, ExprParser& exprs) {
  const Token at = lexer.Peek();
  TUNEC_RETURN_IF_ERROR(lexer.Expect("@"));
  TUNEC_ASSIGN(const int64_t slot, lexer.ExpectInteger("the number of a read"));
  if (slot != static_cast<int64_t>(exprs.CountReads())) {
    return FailAt(lexer.LocationOf(at), ErrorCode::kParse, "read @{} is out of order, expected @{}",
                  slot, exprs.CountReads());
  }
  TUNEC_RETURN_IF_ERROR(lexer.Expect("="));
  TUNEC_ASSIGN(Read read, exprs.ParseRead());
  exprs.AddRead(std::move(read));
  return {};
}

Result<std::vector<Write>> ParseWrites(Lexer& lexer, ExprParser& exprs, bool tuple) {
  std::vector<Write> writes;
  if (tuple) TUNEC_RETURN_IF_ERROR(lexer.Expect("("));
  if (tuple && lexer.TryTake(")")) return writes;
  do {
    TUNEC_ASSIGN(Write write, exprs.ParseWrite());
    writes.push_back(std::move(write));
  } while (tuple && lexer.TryTake(","));
  if (tuple) TUNEC_RETURN_IF_ERROR(lexer.Expect(")"));
  return writes;
}

Result<std::vector<Expr>> ParseValues(ExprParser& exprs, bool tuple) {
  if (tuple) return exprs.ParseExprList();
  TUNEC_ASSIGN(Expr value, exprs.ParseExpr());
  return std::vector<Expr>{std::move(value)};
}

Status ParseEquation(Lexer& lexer, ExprParser& exprs, ParsedAssignment& into) {
  const bool tuple = lexer.At("(");
  TUNEC_ASSIGN(into.writes, ParseWrites(lexer, exprs, tuple));
  const Token op = lexer.Peek();
  std::string name;
  if (!lexer.At("=")) {
    TUNEC_ASSIGN(name, lexer.ExpectName("'=' or a reducer as in 'sum='"));
  }
  TUNEC_RETURN_IF_ERROR(lexer.Expect("="));
  TUNEC_ASSIGN(into.values, ParseValues(exprs, tuple));
  if (name.empty()) {
    if (!into.reducer) return {};
    return FailAt(lexer.LocationOf(op), ErrorCode::kParse, "reducer {} is not used, expected '{}='",
                  into.reducer->name, into.reducer->name);
  }
  if (into.reducer && into.reducer->name == name) return {};
  if (!into.reducer && !into.values.empty()) {
    into.reducer = FindReducer(name, into.values[0].type());
    if (into.reducer) return {};
  }
  return FailAt(lexer.LocationOf(op), ErrorCode::kParse, "no reducer is called {}", name);
}

Result<Interval> ParseRange(Lexer& lexer) {
  Interval range;
  TUNEC_RETURN_IF_ERROR(lexer.Expect("["));
  TUNEC_ASSIGN(range.lo, lexer.ExpectInteger("the smallest value"));
  TUNEC_RETURN_IF_ERROR(lexer.Expect(","));
  TUNEC_ASSIGN(range.hi, lexer.ExpectInteger("the largest value"));
  TUNEC_RETURN_IF_ERROR(lexer.Expect("]"));
  return range;
}

// A parsed declaration. An alias is still a name, because its tensor may be declared later.
struct Declaration {
  Tensor tensor;
  std::optional<std::string> alias;
  Token alias_at;
};

Status ParseAttributes(Lexer& lexer, Declaration& declaration) {
  Tensor& tensor = declaration.tensor;
  while (!lexer.Peek().starts_line) {
    if (lexer.TryTake("constant")) {
      tensor.constant = true;
    } else if (lexer.TryTake("finite")) {
      tensor.finite = true;
    } else if (lexer.TryTake("layout")) {
      TUNEC_ASSIGN(tensor.layout, ParseLayout(lexer));
    } else if (lexer.TryTake("align")) {
      TUNEC_ASSIGN(tensor.alignment, lexer.ExpectInteger("bytes"));
    } else if (lexer.TryTake("alias")) {
      declaration.alias_at = lexer.Peek();
      TUNEC_ASSIGN(declaration.alias, lexer.ExpectName("a tensor"));
    } else if (lexer.TryTake("range")) {
      TUNEC_ASSIGN(tensor.range, ParseRange(lexer));
    } else {
      return lexer.Expected("constant, finite, layout, align, alias, range or the end of the line");
    }
  }
  return {};
}

Result<Declaration> ParseDeclaration(Lexer& lexer) {
  Declaration declaration;
  Tensor& tensor = declaration.tensor;
  tensor.role = *ParseTensorRole(lexer.Next().text);
  TUNEC_ASSIGN(tensor.name, lexer.ExpectName("the tensor's name"));
  TUNEC_RETURN_IF_ERROR(lexer.Expect(":"));
  const auto type = ParseDataType(lexer.Peek().text);
  if (!type) return lexer.Expected("a type as in f32[2, 3]");
  lexer.Next();
  tensor.type = *type;
  TUNEC_ASSIGN(tensor.shape, ParseShape(lexer));
  TUNEC_RETURN_IF_ERROR(ParseAttributes(lexer, declaration));
  return declaration;
}

}  // namespace

Result<Tensors> ParseTensors(Lexer& lexer) {
  std::vector<Declaration> declarations;
  while (lexer.Peek().kind == TokenKind::kIdentifier && ParseTensorRole(lexer.Peek().text) &&
         !(lexer.Peek(1).text == "[")) {
    const Token at = lexer.Peek(1);
    TUNEC_ASSIGN(Declaration declaration, ParseDeclaration(lexer));
    for (const Declaration& earlier : declarations) {
      if (earlier.tensor.name != declaration.tensor.name) continue;
      return FailAt(lexer.LocationOf(at), ErrorCode::kParse, "a second tensor is called {}",
                    earlier.tensor.name);
    }
    declarations.push_back(std::move(declaration));
  }
  Tensors tensors;
  for (const Declaration& declaration : declarations) tensors.push_back(declaration.tensor);
  for (const TensorId t : tensors.ids()) {
    const auto& alias = declarations[t.index()].alias;
    if (!alias) continue;
    const auto found = std::ranges::find(tensors, *alias, &Tensor::name);
    if (found == tensors.end()) {
      return FailAt(lexer.LocationOf(declarations[t.index()].alias_at), ErrorCode::kParse,
                    "no tensor is called {}", *alias);
    }
    tensors[t].alias = tensors.id_of(found);
  }
  return tensors;
}

Result<ParsedAssignment> ParseAssignment(Lexer& lexer, const Tensors& tensors,
                                         const ExprParser::Variables& variables) {
  ParsedAssignment result;
  ExprParser exprs(lexer, tensors, variables);
  if (lexer.At("reducer") && lexer.Peek(1).text != "[") {
    TUNEC_ASSIGN(result.reducer, ParseReducerLine(lexer, exprs));
  }
  while (lexer.At("@")) TUNEC_RETURN_IF_ERROR(ParseReadLine(lexer, exprs));
  TUNEC_RETURN_IF_ERROR(ParseEquation(lexer, exprs, result));
  result.reads = exprs.TakeReads();
  return result;
}

}  // namespace tunec
