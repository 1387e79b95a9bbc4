// The form of a dynamic-shape model, from the model's graph with named sizes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "compiler/sized/sized_source.h"
#include "graph/pad/pad_graph.h"
#include "ir/size/size_program.h"
#include "runtime/sized/sized_form.h"
#include "support/error.h"

namespace tunec {

/// A model's form. If the model cannot be padded, the form has no formulas and no splitting, and
/// the model is compiled for each size.
struct LearntForm {
  SizedForm form;
  std::string rejection = {};           // reason why the model cannot be padded; empty: it can
  std::vector<std::string> notes = {};  // sentences for the user
  std::vector<std::vector<PaddedAxis>> outputs = {};  // parts of the outputs, as in PaddedGraph
};

/// Finds the form. `listed` has the sizes of each dimension for which code is requested. If a
/// concatenation needs two dimensions to be equal, they become one in `source`. Errors: those of
/// the example's graph; kCancelled.
Result<LearntForm> LearnForm(SizedSource& source, std::vector<ListedSizes> listed);

/// Translate sizes and conditions to programs over the dimensions. Fail with kUnsupported for an
/// expression that is too long.
Result<SizeProgram> ProgramOf(const SizeExpr& size, std::span<const std::string> dimensions);
Result<std::vector<SizeCheck>> ChecksOf(const std::vector<SizeCondition>& conditions,
                                        std::span<const std::string> dimensions);

}  // namespace tunec
