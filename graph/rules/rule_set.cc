#include "graph/rules/rule.h"

namespace tunec {
namespace {

void AddRoots(const RuleTerm& pattern, int rule, std::vector<std::vector<int>>& by_root) {
  if (pattern.kind == RuleTerm::Kind::kAlternatives) {
    for (const RuleTerm& alternative : pattern.operands) AddRoots(alternative, rule, by_root);
    return;
  }
  const auto op = static_cast<size_t>(pattern.op);
  if (by_root.size() <= op) by_root.resize(op + 1);
  std::vector<int>& rules = by_root[op];
  if (rules.empty() || rules.back() != rule) rules.push_back(rule);
}

}  // namespace

RuleSet::RuleSet(std::vector<Rule> rules) : rules_(std::move(rules)) {
  for (size_t i = 0; i < rules_.size(); ++i)
    AddRoots(rules_[i].pattern, static_cast<int>(i), by_root_);
}

std::span<const int> RuleSet::For(Op op) const {
  const auto index = static_cast<size_t>(op);
  return index < by_root_.size() ? by_root_[index] : std::span<const int>();
}

bool IsAssociative(Op op) {
  switch (op) {
    case Op::kAdd:
    case Op::kMul:
    case Op::kMin:
    case Op::kMax:
    case Op::kAnd:
    case Op::kOr:
    case Op::kXor:
      return true;
    default:
      return false;
  }
}

bool IsCommutative(Op op) { return IsAssociative(op) || op == Op::kEq || op == Op::kNe; }

}  // namespace tunec
