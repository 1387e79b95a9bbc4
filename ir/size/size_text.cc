#include "ir/size/size_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace tunec {
namespace {

using Kind = SizeFactor::Kind;

constexpr int kDeepest = 64;

bool IsReserved(std::string_view name) { return name == "min" || name == "max" || name == "mod"; }

bool IsNegative(const SizeExpr& expr) {
  if (expr.terms().empty()) return expr.constant() < 0;
  return std::ranges::all_of(expr.terms(),
                             [](const SizeTerm& term) { return term.coefficient < 0; });
}

class SizePrinter {
 public:
  explicit SizePrinter(const std::function<std::string(const std::string&)>& name) : name_(name) {}

  std::string Text(const SizeExpr& expr) const {
    if (!expr.IsKnown()) return "?";
    std::string text;
    const auto append = [&](bool is_negative, std::string_view product) {
      if (text.empty()) {
        text = is_negative ? "-" : "";
      } else {
        text += is_negative ? " - " : " + ";
      }
      text += product;
    };
    const bool is_whole = expr.terms().size() == 1 && expr.constant() == 0;
    for (const SizeTerm& term : expr.terms()) {
      if (const std::optional<std::string> minimum = MinimumText(term)) {
        append(false, *minimum);
      } else {
        append(term.coefficient < 0, ProductText(term, is_whole));
      }
    }
    if (expr.constant() != 0 || text.empty())
      append(expr.constant() < 0, fmt::format("{}", std::abs(expr.constant())));
    return text;
  }

 private:
  std::string NameText(const std::string& name) const {
    if (IsReserved(name)) return Quote(name);
    if (name_) return name_(name);
    return IsIdentifier(name) ? name : Quote(name);
  }

  std::string CallText(std::string_view function, const std::vector<SizeExpr>& operands,
                       int sign) const {
    std::string text;
    for (const SizeExpr& operand : operands)
      text += fmt::format("{}{}", text.empty() ? "" : ", ", Text(sign < 0 ? -operand : operand));
    return fmt::format("{}({})", function, text);
  }

  // Returns the text of an operand of a division. Only a name or a number that is not negative has
  // no parentheses.
  std::string OperandText(const SizeExpr& expr) const {
    const bool is_plain = expr.AsName() || (expr.IsConstant() && expr.constant() >= 0);
    return is_plain ? Text(expr) : fmt::format("({})", Text(expr));
  }

  // Returns the text of a factor without parentheses around a division.
  std::string FactorText(const SizeFactor& factor) const {
    if (factor.kind == Kind::kName) return NameText(factor.name);
    if (factor.kind == Kind::kMaximum) return CallText("max", factor.operands, 1);
    return fmt::format("{}{}{}", OperandText(factor.operands[0]),
                       factor.kind == Kind::kDivision ? "/" : " mod ",
                       OperandText(factor.operands[1]));
  }

  // Returns the text of a product, without the sign of its coefficient. A division as a summand
  // needs no parentheses. A remainder has parentheses unless it is the whole expression.
  std::string ProductText(const SizeTerm& term, bool is_whole) const {
    const int64_t coefficient = std::abs(term.coefficient);
    const bool is_plain = term.factors.size() == 1 && term.coefficient == 1 &&
                          (is_whole || term.factors[0]->kind != Kind::kRemainder);
    std::string text = coefficient == 1 ? "" : fmt::format("{}", coefficient);
    for (const SizeFactorPtr& factor : term.factors) {
      const bool is_division = factor->kind == Kind::kDivision || factor->kind == Kind::kRemainder;
      if (!text.empty()) text += "*";
      text +=
          is_division && !is_plain ? fmt::format("({})", FactorText(*factor)) : FactorText(*factor);
    }
    return text;
  }

  // Returns the term as a minimum of the negated operands, if it is -max of negative operands.
  std::optional<std::string> MinimumText(const SizeTerm& term) const {
    if (term.coefficient >= 0 || term.factors.size() != 1) return std::nullopt;
    const SizeFactor& factor = *term.factors[0];
    if (factor.kind != Kind::kMaximum) return std::nullopt;
    if (2 * std::ranges::count_if(factor.operands, IsNegative) < std::ssize(factor.operands))
      return std::nullopt;
    const std::string call = CallText("min", factor.operands, -1);
    return term.coefficient == -1 ? call : fmt::format("{}*{}", -term.coefficient, call);
  }

  const std::function<std::string(const std::string&)>& name_;
};

class SizeParser {
 public:
  explicit SizeParser(Lexer& lexer) : lexer_(lexer) {}

  Result<ParsedSize> Parse() {
    TUNEC_ASSIGN(SizeExpr size, ParseSum());
    return ParsedSize{std::move(size), std::move(names_)};
  }

 private:
  Result<SizeExpr> ParseSum() {
    if (depth_ == kDeepest) {
      return FailAt(lexer_.Here(), ErrorCode::kParse, "a size is nested more than {} deep",
                    kDeepest);
    }
    ++depth_;
    const SourceLocation where = lexer_.Here();
    TUNEC_ASSIGN(SizeExpr sum, ParseProduct());
    while (lexer_.At("+") || lexer_.At("-")) {
      const bool subtracts = lexer_.Next().text == "-";
      TUNEC_ASSIGN(const SizeExpr product, ParseProduct());
      sum = subtracts ? sum - product : sum + product;
    }
    --depth_;
    if (sum.IsKnown()) return sum;
    return FailAt(where, ErrorCode::kParse,
                  "a size has more than {} factors, more than {} nested divisions, or a number "
                  "beyond 2^60",
                  SizeExpr::kMostFactors, SizeExpr::kMostDepth);
  }

  Result<SizeExpr> ParseProduct() {
    const bool is_negative = lexer_.TryTake("-");
    TUNEC_ASSIGN(SizeExpr product, ParseFactor());
    if (is_negative) product = -product;
    for (;;) {
      const SourceLocation where = lexer_.Here();
      const bool multiplies = lexer_.At("*");
      const bool divides = lexer_.At("/");
      if (!multiplies && !divides && !lexer_.At("mod")) return product;
      lexer_.Next();
      TUNEC_ASSIGN(const SizeExpr factor, ParseFactor());
      if (!multiplies && factor == 0)
        return FailAt(where, ErrorCode::kParse, "a size is divided by 0");
      product = multiplies ? product * factor
                : divides  ? SizeExpr::FloorDiv(product, factor)
                           : SizeExpr::Mod(product, factor);
    }
  }

  Result<SizeExpr> ParseFactor() {
    const Token& token = lexer_.Peek();
    if (token.kind == TokenKind::kString || token.kind == TokenKind::kIdentifier) {
      if (lexer_.At("min") || lexer_.At("max")) return ParseCall();
      if (lexer_.At("mod")) return lexer_.Expected("a size");
      TUNEC_ASSIGN(const std::string name, lexer_.ExpectName("a size"));
      names_.insert(name);
      return SizeExpr::Named(name);
    }
    if (!lexer_.TryTake("(")) {
      TUNEC_ASSIGN(const int64_t number, lexer_.ExpectInteger("a size"));
      return SizeExpr(number);
    }
    TUNEC_ASSIGN(SizeExpr sum, ParseSum());
    TUNEC_RETURN_IF_ERROR(lexer_.Expect(")"));
    return sum;
  }

  Result<SizeExpr> ParseCall() {
    const bool is_minimum = lexer_.Next().text == "min";
    TUNEC_RETURN_IF_ERROR(lexer_.Expect("("));
    TUNEC_ASSIGN(SizeExpr value, ParseSum());
    do {
      TUNEC_RETURN_IF_ERROR(lexer_.Expect(","));
      TUNEC_ASSIGN(const SizeExpr operand, ParseSum());
      value = is_minimum ? SizeExpr::Min(value, operand) : SizeExpr::Max(value, operand);
    } while (!lexer_.At(")"));
    TUNEC_RETURN_IF_ERROR(lexer_.Expect(")"));
    return value;
  }

  Lexer& lexer_;
  std::set<std::string> names_;
  int depth_ = 0;
};

}  // namespace

std::string Print(const SizeExpr& expr,
                  const std::function<std::string(const std::string&)>& name) {
  return SizePrinter(name).Text(expr);
}

std::string PrintList(const std::vector<SizeExpr>& exprs) {
  std::string text;
  for (const SizeExpr& expr : exprs) text += (text.empty() ? "" : ", ") + Print(expr);
  return text;
}

Result<ParsedSize> ParseSizeExpr(Lexer& lexer) { return SizeParser(lexer).Parse(); }

}  // namespace tunec
