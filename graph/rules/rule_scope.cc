#include "graph/rules/rule_scope.h"

#include <array>

namespace tunec {
namespace {

std::string_view NameOf(VariableKind kind) {
  switch (kind) {
    case VariableKind::kValue:
      return "a value";
    case VariableKind::kRest:
      return "a list of operands";
    case VariableKind::kAttribute:
      return "an attribute";
  }
  return "";
}

}  // namespace

RuleScope::RuleScope() : variables_{{std::string(kRootName), VariableKind::kValue}} {
  bound_.insert(kRootVariable);
}

Result<int> RuleScope::Bind(const std::string& name, VariableKind kind,
                            const SourceLocation& where) {
  if (name == kRootName)
    return FailAt(where, ErrorCode::kParse, "{} is the name of the value of the pattern's root",
                  kRootName);
  for (size_t i = 1; i < variables_.size(); ++i) {
    if (variables_[i].name != name) continue;
    if (variables_[i].kind != kind)
      return FailAt(where, ErrorCode::kParse, "{} is {} here, but {} before", name, NameOf(kind),
                    NameOf(variables_[i].kind));
    bound_.insert(static_cast<int>(i));
    return static_cast<int>(i);
  }
  variables_.push_back({name, kind});
  bound_.insert(static_cast<int>(variables_.size()) - 1);
  return static_cast<int>(variables_.size()) - 1;
}

Result<int> RuleScope::Use(const std::string& name, const SourceLocation& where) const {
  for (const int i : bound_)
    if (variables_[i].name == name) return i;
  return FailAt(where, ErrorCode::kParse, "the pattern does not bind {}", name);
}

}  // namespace tunec
