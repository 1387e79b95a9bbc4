// The report of a compiled model with fixed shapes as JSON, for `tunec MODEL --json`, bundles and
// the C interface's tunec_report_json.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "compiler/compiler.h"

namespace tunec {

/// Returns one object; docs/reference/json.md lists its keys. `options` are the options of the
/// compilation. Kernels are in the order of their first group; kernels of equal workloads are one
/// entry. `recorded_ms` are times of the tuner, since nothing is measured here.
nlohmann::ordered_json ReportJson(const CompiledModel& model, const CompileOptions& options);

}  // namespace tunec
