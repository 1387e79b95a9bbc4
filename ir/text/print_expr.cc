#include "ir/text/print_expr.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "support/lexer.h"

namespace tunec {
namespace {

IndexExpr ExprOf(const IndexAtom& atom) {
  switch (atom.kind) {
    case IndexAtom::Kind::kVariable:
      return IndexExpr::Var(atom.variable());
    case IndexAtom::Kind::kLoaded:
      return IndexExpr::Loaded(atom.id);
    case IndexAtom::Kind::kFloorDiv:
      break;
  }
  return IndexExpr::FloorDiv(*atom.numerator, atom.divisor);
}

int64_t CoefficientOf(const IndexExpr& expr, const IndexAtom& atom) {
  for (const IndexTerm& term : expr.terms()) {
    if (term.atom == atom) return term.coefficient;
  }
  return 0;
}

// A part factor * (value mod modulus) of a sum.
struct ModPart {
  int64_t factor = 1;
  IndexExpr value;
  int64_t modulus = 1;
};

// Returns whether every term of `part` occurs in `sum` with the same coefficient.
bool HoldsExactly(const IndexExpr& sum, const IndexExpr& part) {
  return std::ranges::all_of(part.terms(), [&](const IndexTerm& term) {
    return CoefficientOf(sum, term.atom) == term.coefficient;
  });
}

// Returns the part c*(x mod m) of the sum such that `division` is the term -c*m*floor(x/m) of the
// part. Returns nothing if no such part is found. Normally x is the numerator of the division. If
// divisions were merged, x is another division of the sum.
std::optional<ModPart> FindMod(const IndexExpr& sum, const IndexTerm& division) {
  if (division.atom.kind != IndexAtom::Kind::kFloorDiv) return std::nullopt;
  const IndexExpr& numerator = *division.atom.numerator;
  if (division.coefficient % division.atom.divisor == 0) {
    ModPart part{-division.coefficient / division.atom.divisor, numerator, division.atom.divisor};
    if (HoldsExactly(sum, numerator * part.factor)) return part;
  }
  for (const IndexTerm& term : sum.terms()) {
    if (term.atom.kind != IndexAtom::Kind::kFloorDiv || term.atom == division.atom) continue;
    if (division.coefficient % term.coefficient != 0) continue;
    const int64_t modulus = -division.coefficient / term.coefficient;
    if (modulus <= 1) continue;
    const IndexExpr value = ExprOf(term.atom);
    if (IndexExpr::FloorDiv(value, modulus) == ExprOf(division.atom)) {
      return ModPart{term.coefficient, value, modulus};
    }
  }
  return std::nullopt;
}

// Removes all parts that FindMod finds from `sum`, and returns them.
std::vector<ModPart> TakeMods(IndexExpr& sum) {
  std::vector<ModPart> parts;
  for (size_t t = 0; t < sum.terms().size();) {
    const auto part = FindMod(sum, sum.terms()[t]);
    if (!part) {
      ++t;
      continue;
    }
    sum -= IndexExpr::Mod(part->value, part->modulus) * part->factor;
    parts.push_back(*part);
    t = 0;
  }
  std::ranges::reverse(parts);
  return parts;
}

std::string Parenthesized(const IndexExpr& expr, const TextNames& names) {
  const std::string text = PrintIndex(expr, names);
  const bool one_atom =
      expr.terms().size() == 1 && expr.terms()[0].coefficient == 1 && expr.constant() == 0;
  return one_atom ? text : "(" + text + ")";
}

std::string PrintAtom(const IndexAtom& atom, const TextNames& names) {
  switch (atom.kind) {
    case IndexAtom::Kind::kVariable:
      return names.variable(atom.variable());
    case IndexAtom::Kind::kLoaded:
      return names.loaded(atom.id);
    case IndexAtom::Kind::kFloorDiv:
      break;
  }
  return fmt::format("floor({}/{})", Parenthesized(*atom.numerator, names), atom.divisor);
}

void AppendTerm(std::string& sum, int64_t coefficient, const std::string& factor) {
  if (!sum.empty()) {
    sum += coefficient < 0 ? " - " : " + ";
  } else if (coefficient < 0) {
    sum += "-";
  }
  const uint64_t magnitude =
      coefficient < 0 ? 0 - static_cast<uint64_t>(coefficient) : static_cast<uint64_t>(coefficient);
  if (factor.empty()) {
    sum += fmt::format("{}", magnitude);
  } else {
    sum += magnitude == 1 ? factor : fmt::format("{}*{}", magnitude, factor);
  }
}

constexpr std::array<std::string_view, 40> kReserved = {
    "alloc", "arrive",   "async_copy", "barrier",  "block.x", "block.y", "block.z", "compute",
    "else",  "false",    "floor",      "for",      "grid.x",  "grid.y",  "grid.z",  "if",
    "in",    "inf",      "max",        "min",      "mod",     "nan",     "nest",    "output",
    "input", "parallel", "phase",      "prefetch", "reducer", "roles",   "shuffle", "tile",
    "true",  "unrolled", "vector",     "wait",     "warp",    "wave",    "where",   "local"};

std::string PrintConstant(const Expr& expr) {
  const DataType type = expr.type();
  if (type == DataType::kBool) return expr.node().int_value != 0 ? "true" : "false";
  if (!IsFloat(type)) return fmt::format("{}{}", expr.node().int_value, Name(type));
  const double value = expr.node().float_value;
  if (type == DataType::kF64) return PrintDouble(value) + "f64";
  // Print the shortest decimal that rounds to this float; f16 and bf16 values are floats.
  std::string text = fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return type == DataType::kF32 ? text : text + std::string(Name(type));
}

std::string_view InfixOf(const Expr& expr) {
  if (expr.Is(ScalarOp::kAdd)) return " + ";
  if (expr.Is(ScalarOp::kSub)) return " - ";
  if (expr.Is(ScalarOp::kMul)) return " * ";
  if (expr.Is(ScalarOp::kDiv)) return " / ";
  return "";
}

// Returns the binding strength: 1 for sums and differences, 2 for products and quotients, and 3 for
// all other expressions.
int Strength(const Expr& expr) {
  if (expr.Is(ScalarOp::kAdd) || expr.Is(ScalarOp::kSub)) return 1;
  return expr.Is(ScalarOp::kMul) || expr.Is(ScalarOp::kDiv) ? 2 : 3;
}

std::string PrintOperand(const Expr& expr, int at_least, const TextNames& names) {
  const std::string text = PrintExpr(expr, names);
  return Strength(expr) < at_least ? "(" + text + ")" : text;
}

std::string PrintApply(const Expr& expr, const TextNames& names) {
  const std::vector<Expr>& operands = expr.operands();
  if (const std::string_view infix = InfixOf(expr); !infix.empty()) {
    const int strength = Strength(expr);
    const std::string left = PrintOperand(operands[0], strength, names);
    return left + std::string(infix) + PrintOperand(operands[1], strength + 1, names);
  }
  std::string text = std::string(Name(expr.node().op)) + "(";
  for (size_t i = 0; i < operands.size(); ++i) {
    if (i > 0) text += ", ";
    text += PrintExpr(operands[i], names);
  }
  return text + ")";
}

}  // namespace

std::string PrintIndex(const IndexExpr& expr, const TextNames& names) {
  IndexExpr rest = expr;
  const std::vector<ModPart> mods = TakeMods(rest);
  const bool alone = mods.size() == 1 && rest.IsConstant() && rest.constant() == 0;
  std::string text;
  for (const IndexTerm& term : rest.terms()) {
    AppendTerm(text, term.coefficient, PrintAtom(term.atom, names));
  }
  for (const ModPart& part : mods) {
    std::string mod = fmt::format("{} mod {}", Parenthesized(part.value, names), part.modulus);
    if (alone && part.factor == 1) return mod;
    AppendTerm(text, part.factor, "(" + mod + ")");
  }
  if (rest.constant() != 0 || text.empty()) AppendTerm(text, rest.constant(), "");
  return text;
}

std::string PrintConditions(const std::vector<IndexExpr>& nonnegative, const TextNames& names) {
  std::string text;
  for (const IndexExpr& condition : nonnegative) {
    if (!text.empty()) text += ", ";
    text += PrintIndex(condition, names) + " >= 0";
  }
  return text;
}

std::string PrintExpr(const Expr& expr, const TextNames& names) {
  const ExprNode& node = expr.node();
  switch (node.kind) {
    case ExprKind::kConstant:
      return PrintConstant(expr);
    case ExprKind::kRead:
      return names.read(node.slot);
    case ExprKind::kIndex:
      return fmt::format("index_{}({})", Name(node.type), PrintIndex(node.index[0], names));
    case ExprKind::kHolds:
      return fmt::format("holds({})", PrintConditions(node.index, names));
    case ExprKind::kAccumulator:
      return fmt::format("acc{}_{}", node.slot, Name(node.type));
    case ExprKind::kIncoming:
      return fmt::format("new{}_{}", node.slot, Name(node.type));
    case ExprKind::kCast:
      return fmt::format("{}({})", Name(node.type), PrintExpr(node.operands[0], names));
    case ExprKind::kApply:
      break;
  }
  return PrintApply(expr, names);
}

std::string PrintDouble(double value) {
  if (std::isnan(value)) return "nan";  // without a sign, which parsing would lose
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string PrintName(const std::string& name) {
  const bool reserved = std::ranges::find(kReserved, name) != kReserved.end();
  return IsIdentifier(name) && !reserved ? name : Quote(name);
}

}  // namespace tunec
