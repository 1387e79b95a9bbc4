// The report of a compiled model as JSON: the one printer behind `tunec MODEL --json` and the C
// interface's tunec_report_json.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "compiler/compiler.h"

namespace tunec {

/// One object; docs/reference/json.md lists its keys. `options` are those that the model was compiled with.
/// Kernels stand in the order of their first group, equal ones together. No time is measured here:
/// `recorded_ms` is what the tuner measured.
nlohmann::ordered_json ReportJson(const CompiledModel& model, const CompileOptions& options);

}  // namespace tunec
