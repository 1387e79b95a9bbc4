// Inference of a dynamic-shape model's shape functions from samples.
#pragma once

#include <string>
#include <vector>

#include "compiler/sized/sized_source.h"
#include "runtime/sized/sized_form.h"
#include "support/error.h"

namespace tunec {

/// A form inferred from samples.
struct LearntForm {
  SizedForm form;
  std::string rejection;                // reason why the model cannot be padded; empty: it can
  std::vector<std::string> notes = {};  // sentences for the user
};

/// Infers the form, or uses RejectForm if LearnShape fails. `listed` has the sizes of each
/// dimension for which code is requested. If a concatenation needs two dimensions to be equal, and
/// the model can only be padded then, they become one in `source`. Errors: those of the example's
/// graph; kCancelled.
Result<LearntForm> LearnForm(SizedSource& source, std::vector<ListedSizes> listed);
/// Replaces the form by one without padding and splitting, with the reason `why`. An output's
/// axis becomes dynamic if its size is a formula in the named graph of `source`. Without a named
/// graph, it becomes dynamic if its size at other sizes differs from the example's. The other sizes
/// are `seen`, SizesFarFrom, and the example with one dimension larger by 1.
Status RejectForm(const SizedSource& source, std::string why, LearntForm& learnt,
                  std::vector<Sizes> seen = {});

}  // namespace tunec
