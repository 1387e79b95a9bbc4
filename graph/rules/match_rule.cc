// The rule matcher backtracks over a list of goals. A goal is that a value or its attributes match
// a term. A solved goal puts the goals of its operands at the front of the list. When the list is
// empty, the rule's conditions are checked, and the users of the matched values unless the rule is
// `shared`. If a check fails, the search continues. The list is allocated on the stack.
#include "graph/rules/match_rule.h"

#include <algorithm>
#include <cmath>

#include "graph/rules/rule_functions.h"

namespace tunec {
namespace {

// Returns the relative tolerance for numbers. It covers the type's own precision: 1/6 in bfloat16
// has an error of 0.2 %.
double ToleranceOf(DataType type) {
  switch (type) {
    case DataType::kF16:
      return 0x1p-10;
    case DataType::kBF16:
      return 0x1p-7;
    default:
      return 1e-4;
  }
}

bool IsNear(double number, double expected, double tolerance) {
  return std::abs(number - expected) <= tolerance * std::abs(expected);
}

// Compares numbers exactly. -0.0 differs from 0.
bool IsExactly(double number, double expected) {
  return number == expected && std::signbit(number) == std::signbit(expected);
}

class Matcher {
 public:
  Matcher(const Rule& rule, const MatchSite& site)
      : rule_(rule), site_(site), bindings_(rule.variables.size()) {}

  std::optional<RuleBindings> Run() {
    bindings_[kRootVariable] = {.bound = true, .value = kRootValue};
    const Goal root{.term = &rule_.pattern, .value = kRootValue};
    if (!Solve(&root)) return {};
    return std::move(bindings_);
  }

 private:
  struct Goal {
    const RuleTerm* term = nullptr;
    ValueId value;
    bool attributes_only = false;  // operands have matched; attributes are last, because they may
                                   // refer to operands
    const Goal* next = nullptr;
  };

  bool Solve(const Goal* goals) {
    if (goals == nullptr) return Accepts();
    const RuleTerm& term = *goals->term;
    if (goals->attributes_only) return SolveAttributes(term, 0, *goals);
    switch (term.kind) {
      case RuleTerm::Kind::kOmitted:
        return !goals->value.valid() && Solve(goals->next);
      case RuleTerm::Kind::kAlternatives:
        return std::ranges::any_of(term.operands, [&](const RuleTerm& alternative) {
          const Goal goal{.term = &alternative, .value = goals->value, .next = goals->next};
          return Solve(&goal);
        });
      case RuleTerm::Kind::kVariable:
        return SolveNamed(term.variable, goals->value, [&] { return Solve(goals->next); });
      case RuleTerm::Kind::kNumber:
      case RuleTerm::Kind::kNear:
        return IsNumber(term, goals->value) &&
               SolveNamed(term.variable, goals->value, [&] { return Solve(goals->next); });
      case RuleTerm::Kind::kNode:
        return SolveNamed(term.variable, goals->value, [&] { return SolveNode(*goals); });
      case RuleTerm::Kind::kRest:
        return false;  // never a goal, because SolveWithRest matches it
    }
    return false;
  }

  // Binds the variable to the value and continues the search. If the search fails, a new binding is
  // undone. A bound variable must already have this value. An unnamed term (variable < 0) binds
  // nothing. An omitted operand never matches.
  template <class Continue>
  bool SolveNamed(int variable, ValueId value, const Continue& go_on) {
    if (!value.valid()) return false;
    if (variable < 0) return go_on();
    RuleBinding& binding = bindings_[variable];
    if (binding.bound) return binding.value == value && go_on();
    binding.bound = true;
    binding.value = value;
    if (go_on()) return true;
    binding.bound = false;
    return false;
  }

  bool IsNumber(const RuleTerm& term, ValueId value) const {
    const std::optional<double> number = site_.Uniform(value);
    const std::optional<double> expected = AsNumber(term.number.literal);
    if (!number || !expected) return false;
    if (term.kind == RuleTerm::Kind::kNumber) return IsExactly(*number, *expected);
    return IsNear(*number, *expected, ToleranceOf(site_.TypeOf(value).type));
  }

  bool SolveNode(const Goal& goal) {
    const NodeView node = site_.NodeOf(goal.value);
    const RuleTerm& term = *goal.term;
    if (node.op != term.op) return false;
    const Goal attributes{
        .term = &term, .value = goal.value, .attributes_only = true, .next = goal.next};
    const Goal* after = term.attributes.empty() ? goal.next : &attributes;
    nodes_.push_back(goal.value);
    const bool solved = SolveOperandsOf(term, node, after);
    if (!solved) nodes_.pop_back();
    return solved;
  }

  bool SolveOperandsOf(const RuleTerm& term, const NodeView& node, const Goal* after) {
    const std::vector<RuleTerm>& operands = term.operands;
    const bool rest = !operands.empty() && operands.back().kind == RuleTerm::Kind::kRest;
    if (rest) return SolveWithRest(operands, node, after);
    if (IsAssociative(node.op) && operands.size() > 2) {
      std::vector<ValueId> leaves(node.inputs.begin(), node.inputs.end());
      return SolveChain(operands, leaves, 0, after);
    }
    // Trailing omitted operands are not stored in a node.
    size_t written = operands.size();
    while (written > 0 && operands[written - 1].kind == RuleTerm::Kind::kOmitted) --written;
    if (node.inputs.size() != written) return false;
    if (SolveOperands(operands, node.inputs, written, after)) return true;
    if (!IsCommutative(node.op)) return false;
    const ValueId exchanged[] = {node.inputs[1], node.inputs[0]};
    return SolveOperands(operands, exchanged, written, after);
  }

  bool SolveWithRest(const std::vector<RuleTerm>& operands, const NodeView& node,
                     const Goal* after) {
    const size_t written = operands.size() - 1;
    if (node.inputs.size() < written) return false;
    RuleBinding& binding = bindings_[operands.back().variable];
    const std::vector<ValueId> rest(node.inputs.begin() + static_cast<ptrdiff_t>(written),
                                    node.inputs.end());
    if (binding.bound)
      return binding.rest == rest && SolveOperands(operands, node.inputs, written, after);
    binding.bound = true;
    binding.rest = rest;
    if (SolveOperands(operands, node.inputs, written, after)) return true;
    binding.bound = false;
    return false;
  }

  // Pushes the goals of the first `count` operands, from the last to the first, and solves them.
  bool SolveOperands(const std::vector<RuleTerm>& operands, std::span<const ValueId> values,
                     size_t count, const Goal* after) {
    if (count == 0) return Solve(after);
    const Goal goal{.term = &operands[count - 1], .value = values[count - 1], .next = after};
    return SolveOperands(operands, values, count - 1, &goal);
  }

  // Tries every way to open leaves of the chain, until there are as many leaves as operands. To
  // open a leaf of the same operator is to replace it by its two inputs. `first` prevents that one
  // set of leaves is opened in two orders.
  bool SolveChain(const std::vector<RuleTerm>& operands, std::vector<ValueId>& leaves, size_t first,
                  const Goal* after) {
    if (leaves.size() == operands.size()) {
      std::vector<bool> taken(leaves.size());
      return SolveInAnyOrder(operands, leaves, taken, 0, after);
    }
    const Op op = site_.NodeOf(nodes_.back()).op;
    for (size_t i = first; i < leaves.size(); ++i) {
      const ValueId opened = leaves[i];
      const NodeView node = site_.NodeOf(opened);
      if (node.op != op) continue;
      leaves[i] = node.inputs[0];
      leaves.push_back(node.inputs[1]);
      chain_.push_back(opened);
      if (SolveChain(operands, leaves, i, after)) return true;
      chain_.pop_back();
      leaves.pop_back();
      leaves[i] = opened;
    }
    return false;
  }

  bool SolveInAnyOrder(const std::vector<RuleTerm>& operands, const std::vector<ValueId>& leaves,
                       std::vector<bool>& taken, size_t operand, const Goal* after) {
    if (operand == operands.size()) return Solve(after);
    // Runs the quick test first: most leaves cannot be the operand. The goals are solved when every
    // operand has a leaf.
    for (size_t i = 0; i < leaves.size(); ++i) {
      if (taken[i] || !MayBe(operands[operand], leaves[i])) continue;
      taken[i] = true;
      const Goal goal{.term = &operands[operand], .value = leaves[i], .next = nullptr};
      order_.push_back(goal);
      const bool solved = operand + 1 == operands.size()
                              ? SolveOrder(order_.size() - operands.size(), order_.size(), after)
                              : SolveInAnyOrder(operands, leaves, taken, operand + 1, after);
      if (solved) return true;
      order_.pop_back();
      taken[i] = false;
    }
    return false;
  }

  bool SolveOrder(size_t begin, size_t end, const Goal* after) {
    if (end == begin) return Solve(after);
    Goal goal = order_[end - 1];
    goal.next = after;
    return SolveOrder(begin, end - 1, &goal);
  }

  bool MayBe(const RuleTerm& term, ValueId value) const {
    switch (term.kind) {
      case RuleTerm::Kind::kNode:
        return site_.NodeOf(value).op == term.op;
      case RuleTerm::Kind::kNumber:
      case RuleTerm::Kind::kNear:
        return IsNumber(term, value);
      case RuleTerm::Kind::kVariable: {
        const RuleBinding& binding = bindings_[term.variable];
        return !binding.bound || binding.value == value;
      }
      case RuleTerm::Kind::kAlternatives:
        return std::ranges::any_of(term.operands,
                                   [&](const RuleTerm& t) { return MayBe(t, value); });
      default:
        return true;
    }
  }

  bool SolveAttributes(const RuleTerm& term, size_t index, const Goal& goal) {
    if (index == term.attributes.size()) return Solve(goal.next);
    const RuleAttribute& expected = term.attributes[index];
    const RuleValue actual = AttributeOf(site_.NodeOf(goal.value), expected.name);
    if (!actual) return false;
    if (expected.kind == RuleAttribute::Kind::kBind) {
      RuleBinding& binding = bindings_[expected.variable];
      if (binding.bound)
        return AreEqualAttributes(binding.attribute, *actual) &&
               SolveAttributes(term, index + 1, goal);
      binding.bound = true;
      binding.attribute = *actual;
      if (SolveAttributes(term, index + 1, goal)) return true;
      binding.bound = false;
      return false;
    }
    const RuleValue value = Evaluate(expected.expr, site_, bindings_);
    return value && AttributeIs(*actual, *value, expected.kind) &&
           SolveAttributes(term, index + 1, goal);
  }

  static bool AttributeIs(const Attribute& actual, const Attribute& expected,
                          RuleAttribute::Kind kind) {
    const auto a = AsNumber(actual);
    const auto b = AsNumber(expected);
    if (!a || !b) return AreEqualAttributes(actual, expected);
    return kind == RuleAttribute::Kind::kNear ? IsNear(*a, *b, 1e-4) : IsExactly(*a, *b);
  }

  bool Accepts() const {
    if (!rule_.shared && HasUsersOutside()) return false;
    return std::ranges::all_of(rule_.conditions, [&](const RuleExpr& condition) {
      return IsTrue(Evaluate(condition, site_, bindings_));
    });
  }

  bool HasUsersOutside() const {
    std::vector<ValueId> inside = nodes_;
    inside.insert(inside.end(), chain_.begin(), chain_.end());
    std::ranges::sort(inside);
    inside.erase(std::ranges::unique(inside).begin(), inside.end());
    return std::ranges::any_of(inside, [&](ValueId value) {
      if (value == kRootValue) return false;
      int within = 0;
      for (const ValueId user : inside)
        for (const ValueId input : site_.NodeOf(user).inputs) within += input == value;
      return site_.uses[value.index] != within;
    });
  }

  const Rule& rule_;
  const MatchSite& site_;
  RuleBindings bindings_;
  std::vector<ValueId> nodes_;  // values that operators of the pattern match
  std::vector<ValueId> chain_;  // leaves of chains that SolveChain has opened
  std::vector<Goal> order_;
};

}  // namespace

std::optional<RuleBindings> MatchRule(const Rule& rule, const MatchSite& site) {
  return Matcher(rule, site).Run();
}

}  // namespace tunec
