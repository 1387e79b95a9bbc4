// A recursive-descent parser of index expressions, conditions, reads, writes, and scalar
// expressions. docs/reference/text_formats.md has the grammar.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ir/compute.h"
#include "support/lexer.h"

namespace tunec {

/// A parser of expressions, such as those of one statement or store. A read inside an expression
/// gets the slot of an earlier equal read, or else the next slot.
class ExprParser {
 public:
  /// A function that returns the variable of a name, or nothing if no such variable is in scope.
  using Variables = std::function<std::optional<VarId>(const std::string&)>;

  ExprParser(Lexer& lexer, const Tensors& tensors, Variables variables)
      : lexer_(lexer), tensors_(tensors), variables_(std::move(variables)) {}

  Result<IndexExpr> ParseIndex();
  /// Parses conditions, as in `i - 1 >= 0, j < 4`. Returns none if the next token is `end`.
  Result<std::vector<IndexExpr>> ParseConditions(std::string_view end);
  Result<Expr> ParseExpr();
  /// Parses a read such as `A[i, k]`, with an optional guard. The read itself gets no slot.
  Result<Read> ParseRead();
  Result<Write> ParseWrite();
  /// Parses a list of expressions in parentheses. The list may be empty.
  Result<std::vector<Expr>> ParseExprList();
  Result<TensorId> ParseTensorName();
  /// Parses `@0`, the slot of an earlier read.
  Result<int> ParseSlotNumber();

  /// Gives the read the next slot, even if an equal read already has a slot.
  void AddRead(Read read) { reads_.push_back(std::move(read)); }
  std::vector<Read> TakeReads() { return std::move(reads_); }
  size_t CountReads() const { return reads_.size(); }

 private:
  Result<IndexExpr> ParseIndexTerm();
  Result<IndexExpr> ParseIndexFactor();
  Result<IndexExpr> ParseIndexProduct(const IndexExpr& left);
  Result<IndexExpr> ParseFloor();
  Result<IndexExpr> ParseLoaded();
  Result<IndexExpr> ParseCondition();
  Result<int64_t> ParseIndexLiteral();
  Result<int64_t> ParseDivisor();
  Result<std::vector<IndexExpr>> ParseSubscripts();

  Result<Expr> ParseProduct();
  Result<Expr> ParsePrimary();
  Result<Expr> ParseLiteral();
  Result<Expr> ParseReadExpr();
  Result<Expr> ParseCall();
  Result<Expr> ParseWord();
  Result<Expr> ApplyChecked(ScalarOp op, std::vector<Expr> operands, const Token& at);
  int SlotOf(const Read& read);
  Status CheckDepth() const;

  Lexer& lexer_;
  const Tensors& tensors_;
  Variables variables_;
  std::vector<Read> reads_;
  int depth_ = 0;
};

}  // namespace tunec
