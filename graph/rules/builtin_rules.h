// The rules built into tunec, parsed from the texts of the *.rules files of this folder.
#pragma once

#include "graph/rules/rule.h"

namespace tunec {

/// Returns the rules of algebra.rules and movement.rules, which bring equal computations to one
/// form.
const RuleSet& CanonicalRules();
/// Returns the rules of patterns.rules, which recognise operators written as primitives.
const RuleSet& PatternRules();

/// Returns the rules of folds.rules, which fold constants around linear layers into parameters.
const RuleSet& FoldRules();

}  // namespace tunec
