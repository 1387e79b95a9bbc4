// The rules built into tunec, compiled from the *.rules files of this folder.
#pragma once

#include "graph/rules/rule.h"

namespace tunec {

/// Returns the rules that bring equal computations to one form: algebra.rules and movement.rules.
const RuleSet& CanonicalRules();
/// Returns the rules that recognise operators written as primitives: patterns.rules.
const RuleSet& PatternRules();

/// Returns the rules that fold constants around linear layers into the weights: folds.rules.
const RuleSet& FoldRules();

}  // namespace tunec
