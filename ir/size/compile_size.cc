#include "ir/size/compile_size.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace tunec {
namespace {

using Kind = SizeProgram::Kind;

/// A translator of expressions to steps.
class Compiler {
 public:
  explicit Compiler(std::span<const std::string> names) : names_(names) {}

  void Add(const SizeExpr& size) {
    is_known_ = is_known_ && size.IsKnown();
    bool is_first = true;
    for (const SizeTerm& term : size.terms()) {
      AddTerm(term);
      if (!is_first) steps_.push_back({Kind::kAdd});
      is_first = false;
    }
    if (size.constant() == 0 && !is_first) return;
    steps_.push_back({Kind::kConstant, size.constant()});
    if (!is_first) steps_.push_back({Kind::kAdd});
  }

  std::optional<SizeProgram> Finish() && {
    if (!is_known_) return std::nullopt;
    return SizeProgram::FromSteps(std::move(steps_), names_.size());
  }

 private:
  void AddTerm(const SizeTerm& term) {
    bool is_first = true;
    if (term.coefficient != 1) {
      steps_.push_back({Kind::kConstant, term.coefficient});
      is_first = false;
    }
    for (const SizeFactorPtr& factor : term.factors) {
      AddFactor(*factor);
      if (!is_first) steps_.push_back({Kind::kMultiply});
      is_first = false;
    }
  }

  void AddFactor(const SizeFactor& factor) {
    if (factor.kind == SizeFactor::Kind::kName) {
      const auto found = std::ranges::find(names_, factor.name);
      steps_.push_back({Kind::kSize, found - names_.begin()});  // FromSteps rejects a missing name
      return;
    }
    for (size_t i = 0; i < factor.operands.size(); ++i) {
      Add(factor.operands[i]);
      if (i > 0) steps_.push_back({KindOf(factor.kind)});
    }
  }

  static Kind KindOf(SizeFactor::Kind kind) {
    if (kind == SizeFactor::Kind::kDivision) return Kind::kDivide;
    return kind == SizeFactor::Kind::kRemainder ? Kind::kRemainder : Kind::kMaximum;
  }

  std::span<const std::string> names_;
  std::vector<SizeProgram::Step> steps_;
  bool is_known_ = true;
};

}  // namespace

std::optional<SizeProgram> CompileSize(const SizeExpr& size, std::span<const std::string> names) {
  Compiler compiler(names);
  compiler.Add(size);
  return std::move(compiler).Finish();
}

std::optional<SizeCheck> CompileCondition(const SizeCondition& condition,
                                          std::span<const std::string> names) {
  const auto left = CompileSize(condition.left, names);
  const auto right = CompileSize(condition.right, names);
  if (!left || !right) return std::nullopt;
  return SizeCheck{condition.kind, *left, *right, Print(condition)};
}

}  // namespace tunec
