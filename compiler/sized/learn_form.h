// A model of open sizes, looked at at a few of them.
#pragma once

#include <string>
#include <vector>

#include "compiler/sized/sized_source.h"
#include "runtime/sized/sized_form.h"
#include "support/error.h"

namespace tunec {

struct LearntForm {
  SizedForm form;
  std::string refusal;  // what keeps the model from being padded; empty: it can be
};

/// `listed` are the sizes of each dimension that code is asked for. Errors: those of the graphs.
Result<LearntForm> LearnForm(const SizedSource& source, std::vector<ListedSizes> listed);
/// Makes a form of which nothing is padded or cut, for this reason. Outputs that have other sizes
/// at some of `seen` are open.
Status RefuseForm(const SizedSource& source, std::string why, LearntForm& learnt,
                  std::vector<Sizes> seen = {});

}  // namespace tunec
