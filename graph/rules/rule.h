// Graph rewrites as data: what a line `pattern => replacement where condition` of a rule file
// says (docs/rules.md has the language). parse_rules.h reads it, match_rule.h finds where it
// applies, instantiate.h builds what replaces it.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace tunec {

struct RuleFunction;  // rule_functions.h

/// Whether rewrites that change results for NaN, infinities or signed zeros are allowed.
enum class FloatRules : uint8_t { kStrict, kFast };

enum class VariableKind : uint8_t {
  kValue,      // a value of the graph
  kRest,       // the operands that an operator has besides those written
  kAttribute,  // a number, string or list
};

struct RuleVariable {
  std::string name;
  VariableKind kind = VariableKind::kValue;
};

/// A value variable of every rule: what the pattern's root makes.
inline constexpr int kRootVariable = 0;
inline constexpr std::string_view kRootName = "out";

/// An expression over what the pattern bound: conditions, attributes, numbers.
struct RuleExpr {
  enum class Kind : uint8_t {
    kLiteral,
    kList,           // of integers
    kVariable,       // an attribute, or a value as a function's argument
    kNodeAttribute,  // of the node that makes a value: out.transpose_a
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

/// One attribute of an operator in a pattern or a replacement.
struct RuleAttribute {
  enum class Kind : uint8_t {
    kBind,   // pattern: the variable becomes, or is, its value
    kNear,   // pattern: within the literal's tolerance
    kEqual,  // pattern: is the expression's value; replacement: becomes it
    kCopy,   // replacement: every attribute of the node that makes the variable
  };
  Kind kind = Kind::kEqual;
  std::string name;
  int variable = -1;
  RuleExpr expr;
};

/// A pattern or a replacement.
struct RuleTerm {
  enum class Kind : uint8_t {
    kVariable,      // a value; the same variable twice is the same value
    kRest,          // ..operands, last of a node
    kOmitted,       // _
    kNumber,        // pattern: a constant, all of whose elements are this; else a new constant
    kNear,          // pattern: the same within a tolerance
    kNode,          // an operator; of a chain of n - 1 of them if it is given n > 2 operands
    kAlternatives,  // pattern: the first that matches
  };
  Kind kind = Kind::kVariable;
  int variable = -1;  // kVariable, kRest; else the name given to the value, or -1
  Op op = Op::kIdentity;
  std::vector<RuleTerm> operands;  // kNode, kAlternatives
  std::vector<RuleAttribute> attributes;
  RuleExpr number;  // kNumber, kNear
};

struct Rule {
  std::string name;
  SourceLocation where;
  bool shared = false;  // nodes inside the pattern may have users outside
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
  /// Indices into rules() of those whose root may be `op`, in order.
  std::span<const int> For(Op op) const;

 private:
  std::vector<Rule> rules_;
  std::vector<std::vector<int>> by_root_;  // by operator
};

/// Whether the operator with more operands than two stands for a chain that matches in any
/// order and nesting.
bool IsAssociative(Op op);
/// Whether a node's two operands may be exchanged.
bool IsCommutative(Op op);

}  // namespace tunec
