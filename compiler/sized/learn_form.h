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
  std::string rejection;  // reason why the model cannot be padded; empty: it can
};

/// Infers the form. `listed` has the sizes of each dimension for which code is requested. Errors:
/// those of the graphs.
Result<LearntForm> LearnForm(const SizedSource& source, std::vector<ListedSizes> listed);
/// Replaces the form by one without padding and splitting, with the reason `why`. Dimensions of
/// outputs become dynamic if they differ at some of `seen`, of SizesFarFrom, or at the next larger
/// size.
Status RejectForm(const SizedSource& source, std::string why, LearntForm& learnt,
                  std::vector<Sizes> seen = {});

}  // namespace tunec
