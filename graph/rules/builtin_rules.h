// The rules that come with tunec: the *.rules files of this folder, compiled in.
#pragma once

#include "graph/rules/rule.h"

namespace tunec {

/// What brings equal computations to one form: algebra.rules and movement.rules.
const RuleSet& CanonicalRules();
/// Operators written as primitives: patterns.rules.
const RuleSet& PatternRules();

/// What constants do around linear layers, into their weights: folds.rules.
const RuleSet& FoldRules();

}  // namespace tunec
