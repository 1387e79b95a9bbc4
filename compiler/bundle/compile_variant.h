// Compilation of one variant of a bundle.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/bundle/plan_writer.h"
#include "compiler/compiler.h"
#include "db/database.h"
#include "graph/graph.h"
#include "runtime/bundle/code_table.h"
#include "runtime/bundle/device_code.h"
#include "runtime/bundle/stored_plan.h"
#include "runtime/bundle/variant_head.h"
#include "runtime/sized/sized_variant.h"
#include "support/error.h"

namespace tunec {

/// Plans for several sizes, with the sizes that each plan serves. A variant of a dynamic-shape
/// model has these plans instead of a single plan.
struct PlansWithData {
  SizedForm form;
  std::vector<SizedCode> codes;
  std::vector<PlanWithData> plans;
};

/// A compiled variant of a bundle, without the file offsets of its constants. The writer of the
/// bundle assigns the offsets.
struct BundleVariant {
  bundle::VariantHead head;
  bundle::StoredPlan plan;
  /// Data of each of the plan's constants; null: the data is only known at load time.
  std::vector<std::shared_ptr<const void>> constants;
  std::vector<bundle::KernelContract> kernels;  // kernels of the host
  std::string image;
  bundle::DeviceCodeTable device_code;  // code of a variant for a device
  std::string report;                   // JSON
  std::optional<PlansWithData> sizes = std::nullopt;
};

/// Compiles `graph` for the options' device, or for their host. The device does not have to exist
/// here. If this machine can run the host's code, weights are packed now; otherwise they are packed
/// when the bundle is loaded. `cpu` is the host's name in the options. Errors: those of Compile;
/// kUnsupported for device code other than cubins, for example code of an emulated GPU.
Result<BundleVariant> CompileVariant(const Graph& graph, Database* database,
                                     const CompileOptions& options, const std::string& cpu);

}  // namespace tunec
