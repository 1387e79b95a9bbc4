// A model compiled to be written down: one variant of a bundle.
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

/// In the place of a plan: plans for several sizes, and what each is for.
struct UnplacedSizes {
  SizedForm form;
  std::vector<SizedCode> codes;
  std::vector<UnplacedPlan> plans;
};

/// All of a variant but where its constants lie, which the writer says.
struct BundleVariant {
  bundle::VariantHead head;
  bundle::StoredPlan plan;
  std::vector<std::shared_ptr<const void>> constants;  // of each of the plan's; null: none yet
  std::vector<bundle::KernelContract> kernels;         // of the host
  std::string image;
  bundle::DeviceCodeTable device_code;  // of a variant for a device
  std::string report;                   // JSON
  std::optional<UnplacedSizes> sizes = std::nullopt;
};

/// Compiles `graph` for the options' device, which need not be there, or for their host. Weights
/// are packed where this machine runs the host's code; else the bundle packs them when it is
/// loaded. `cpu` is the host as it was asked for. Errors: those of Compile; kUnsupported for code
/// that no GPU runs, as of an emulated one.
Result<BundleVariant> CompileVariant(const Graph& graph, Database* database,
                                     const CompileOptions& options, const std::string& cpu);

}  // namespace tunec
