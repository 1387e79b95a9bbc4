// A model of any size from a program that makes its texts.
#pragma once

#include "api/include/tunec/tunec.h"
#include "compiler/compiler.h"
#include "compiler/sized/sized_source.h"
#include "support/error.h"

namespace tunec {

/// Asks for texts one at a time. The source's `release` is called when the last copy of the result
/// goes, and where this fails.
Result<SizedSource> SourceOfTexts(const tunec_graph_source& source);

/// Refuses "dims" of the options that name a dimension the source does not have.
Status CheckDims(const SizedSource& source, const ModelOptions& options);

}  // namespace tunec
