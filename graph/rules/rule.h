// Graph rewrites as data. A rule has a pattern, a replacement and optional conditions;
// docs/reference/rules.md describes the language. parse_rules.h parses rules, match_rule.h matches
// them, and instantiate.h builds the replacement.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace tunec {

struct RuleFunction;  // defined in rule_functions.h

/// Permission for rewrites of float operations. kFast allows rewrites that change results for NaN,
/// infinities or signed zeros, or the order of sums, among others.
enum class FloatRules : uint8_t { kStrict, kFast };

enum class VariableKind : uint8_t {
  kValue,      // a value of the graph
  kRest,       // the remaining operands of an operator, after those in the pattern
  kAttribute,  // a number, string or list
};

struct RuleVariable {
  std::string name;
  VariableKind kind = VariableKind::kValue;
};

/// The index and name of a variable that every rule has: the result of the pattern's root.
inline constexpr int kRootVariable = 0;
inline constexpr std::string_view kRootName = "out";

/// An expression over bound variables, for conditions, attributes and numbers.
struct RuleExpr {
  enum class Kind : uint8_t {
    kLiteral,
    kList,           // a list of integers
    kVariable,       // an attribute, or a value as a function's argument
    kNodeAttribute,  // an attribute of the node that computes a value, such as out.transpose_a
    kCall,
    kAnd,
    kOr,
    kNot,
  };
  Kind kind = Kind::kLiteral;
  Attribute literal;
  int variable = -1;
  std::string attribute;
  const RuleFunction* function = nullptr;
  std::vector<RuleExpr> operands;
};

/// An item in the braces after an operator, in a pattern or a replacement.
struct RuleAttribute {
  enum class Kind : uint8_t {
    kBind,   // pattern: binds the variable, or compares with its value if bound
    kNear,   // pattern: equals the expression within a relative tolerance
    kEqual,  // pattern: equals the expression; replacement: is set to the expression
    kCopy,   // replacement: copies all attributes of the node that computes the variable
  };
  Kind kind = Kind::kEqual;
  std::string name;
  int variable = -1;
  RuleExpr expr;
};

/// A term of a pattern or a replacement, such as a variable, or an operator with its operands.
struct RuleTerm {
  enum class Kind : uint8_t {
    kVariable,      // a value; two uses of a variable are the same value
    kRest,          // the remaining operands of a node, written last as ..operands
    kOmitted,       // an operand that is omitted, written _
    kNumber,        // pattern: a constant whose elements all equal the number; replacement: a new
                    // constant
    kNear,          // pattern: kNumber within a tolerance
    kNode,          // an operator; if associative with n > 2 operands, a chain of n - 1 operators
    kAlternatives,  // pattern: the first alternative that matches
  };
  Kind kind = Kind::kVariable;
  int variable = -1;  // for kVariable, kRest, or a term named with @; else -1
  Op op = Op::kIdentity;
  std::vector<RuleTerm> operands;  // for kNode and kAlternatives
  std::vector<RuleAttribute> attributes;
  RuleExpr number;  // for kNumber and kNear
};

struct Rule {
  std::string name;
  SourceLocation where;
  bool shared = false;  // nodes inside the match may have users outside the match
  std::vector<RuleVariable> variables;
  RuleTerm pattern;
  RuleTerm replacement;
  std::vector<RuleExpr> conditions;  // all must hold
};

/// Rules in order of preference, indexed by the operator of the pattern's root. Immutable.
class RuleSet {
 public:
  RuleSet() = default;
  explicit RuleSet(std::vector<Rule> rules);

  bool empty() const { return rules_.empty(); }
  const std::vector<Rule>& rules() const { return rules_; }
  /// Returns indices into rules() of the rules whose root may be `op`, in order.
  std::span<const int> For(Op op) const;

 private:
  std::vector<Rule> rules_;
  std::vector<std::vector<int>> by_root_;  // indexed by operator
};

/// Returns whether a term of the operator with more than two operands means a chain of operators.
/// In a pattern, the chain matches its operands in any order and nesting.
bool IsAssociative(Op op);
/// Returns whether a node's two operands may be exchanged.
bool IsCommutative(Op op);

}  // namespace tunec
