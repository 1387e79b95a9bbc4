#include "graph/rules/builtin_rules.h"

#include <algorithm>
#include <initializer_list>

#include "graph/rules/parse_rules.h"
#include "graph/rules/rule_texts.h"
#include "support/check.h"

namespace tunec {
namespace {

RuleSet Parsed(std::initializer_list<std::string_view> names) {
  std::vector<Rule> rules;
  for (const std::string_view name : names) {
    const auto texts = RuleTexts();
    const auto text = std::ranges::find(texts, name, &RuleText::name);
    TUNEC_CHECK(text != texts.end(), "there is no file {}", name);
    auto parsed = ParseRules(text->text, name);
    TUNEC_CHECK(parsed.has_value(), "{}", parsed.error().Format());
    rules.insert(rules.end(), std::make_move_iterator(parsed->begin()),
                 std::make_move_iterator(parsed->end()));
  }
  return RuleSet(std::move(rules));
}

}  // namespace

const RuleSet& CanonicalRules() {
  static const RuleSet rules = Parsed({"algebra.rules", "movement.rules"});
  return rules;
}

const RuleSet& FoldRules() {
  static const RuleSet rules = Parsed({"folds.rules"});
  return rules;
}

const RuleSet& PatternRules() {
  static const RuleSet rules = Parsed({"patterns.rules"});
  return rules;
}

}  // namespace tunec
