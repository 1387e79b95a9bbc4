// Functions that make tables and JSON from the spans of a recording.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>
#include <vector>

#include "support/trace.h"
#include "tools/terminal/text_table.h"

namespace tunec {

/// Returns a row for each stage, the longest processor time first. The times of a span exclude the
/// spans inside the span. `elapsed` is the sum over threads, and contains the time of waiting.
TextTable StageTable(const std::vector<TraceSpan>& spans);

/// Returns a row for each span of `stage` with the times of the whole span, the longest processor
/// time first.
TextTable SpanTable(const std::vector<TraceSpan>& spans, std::string_view stage);

/// Returns the spans in the Trace Event Format, which Perfetto (ui.perfetto.dev) and Chrome
/// (chrome://tracing) show as a flame graph.
nlohmann::ordered_json TraceEvents(const std::vector<TraceSpan>& spans);

}  // namespace tunec
