// Conversion of tunec_graph_source, which generates .graph texts for given sizes, to SizedSource.
#pragma once

#include "api/include/tunec/tunec.h"
#include "compiler/compiler.h"
#include "compiler/sized/sized_source.h"
#include "support/error.h"

namespace tunec {

/// Returns a source of graphs that calls `source.text_at` for each graph, one call at a time.
/// `source.release`, if not null, is called when the last copy of the result is destroyed, and if
/// this function fails. Fails with kInvalidArgument if `source` lacks a part, has an example size
/// below 1, or names an axis or a dimension that does not exist. Also fails if the graph of the
/// example sizes cannot be made.
Result<SizedSource> SourceOfTexts(const tunec_graph_source& source);

/// Checks that the source has every dimension that "dims" in the options names. The error is
/// kInvalidArgument.
Status CheckDims(const SizedSource& source, const ModelOptions& options);

}  // namespace tunec
