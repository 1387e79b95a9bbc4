// The driver: one call from a graph to something that runs.
//
//   graph passes -> fusion groups -> lowerings -> (tuned) schedules -> kernels -> Executable
//
// Compiled objects and tuned schedules come from the database where it has them, so that a
// second start compiles and measures nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "autotune/accuracy.h"
#include "autotune/measure/kernel_arithmetic.h"
#include "autotune/tuner.h"
#include "db/database.h"
#include "graph/fuse/fusion_plan.h"
#include "graph/graph.h"
#include "graph/onnx/import.h"
#include "graph/passes/index_checks.h"
#include "graph/passes/pipeline.h"
#include "ir/target.h"
#include "kernel/predict/predict_time.h"
#include "runtime/executable.h"
#include "runtime/kernel.h"
#include "schedule/sketch.h"
#include "support/error.h"
#include "support/file.h"

namespace tunec {

class SharedPackings;
class WeightSource;

struct CompileOptions {
  Target target;  // ParseCpu's
  Accuracy accuracy;
  int trials = 0;                 // of the whole model, earlier ones counted
  double time_limit_seconds = 0;  // of tuning; 0: none. Without `trials` it is the only limit
  /// Groups that are taken up again although they have converged, with a budget of their own, by
  /// number or by the name of a node, or "all"; the others rest. Empty: tuning as usual.
  std::vector<std::string> retune;
  uint64_t seed = 0;
  std::vector<std::string> disabled_passes;
  std::shared_ptr<const RuleSet> user_rules;     // graph rewrites (docs/reference/rules.md); or null
  FloatRules float_rules = FloatRules::kStrict;  // kFast: --fast-math
  FusionMode fusion = FusionMode::kFused;
  SketchSet sketches = SketchSet::kAll;
  PerfMap perf_map = PerfMap::kOff;
  DeviceChoice device;         // of several that run the code
  bool share_threads = false;  // the executable runs on SharedPool, else on a pool of its own
  /// Shared with other executables of the model: it has the weights and packings that they have,
  /// and schedules prefer these. Null: the executable has its own.
  std::shared_ptr<SharedPackings> packings = nullptr;
  std::string worker_path;     // of tunec-worker; empty: found beside the program or library
  std::string failure_folder;  // failing candidates are written here as cases; empty: none
  std::function<void(const TuneProgress&)> on_progress;
  std::function<void(const std::string&)> on_log;     // one line for users, no newline
  std::function<void(const std::string&)> on_detail;  // likewise, for those who mend tunec
  std::function<bool()> cancelled;  // polled between candidates; what was measured is kept

  bool Tunes() const { return trials > 0 || time_limit_seconds > 0; }
};
inline constexpr int kUnlimitedTrials = std::numeric_limits<int>::max();

/// What one kernel of the compiled model is, for tables.
struct KernelReport {
  std::string name;           // "conv_3 add_3 relu_3": the nodes it computes
  std::string kind;           // "conv", "matmul", "softmax", ...
  std::string workload;       // hash of its workload
  std::string schedule;       // text
  std::string sketch_source;  // "tuned", "predicted", "analytic" or "naive"
  double flops = 0;
  double bytes = 0;
  std::optional<KernelArithmetic> arithmetic;  // that its roofline is of
  int phases = 1;
  std::vector<PredictedPhase> predicted;   // of a device's kernels, one for each phase
  std::optional<double> recorded_seconds;  // of one run, as the tuner measured it; none: never
  /// Of one run, as predicted when the schedule was chosen by that; none: it was not.
  std::optional<double> predicted_seconds;
  bool reused = false;             // its object came from the database
  std::vector<std::string> notes;  // what `on_log` was told of its schedule
};

/// What the database knew of the model's groups before anything was measured.
struct KnownTrials {
  int64_t groups = 0;  // different ones
  int64_t tuned = 0;   // of these, for these options
  int64_t trials = 0;
  int64_t predicted = 0;         // groups with trials of predicted times, for these options
  int64_t predicted_trials = 0;  // those, which nobody measured
  int64_t earlier = 0;           // groups that only earlier versions have measured
  std::string earlier_how;       // one of these was measured: "under another policy (warm)"
  std::string elsewhere;         // one line, where more are tuned for others; empty otherwise
};
/// "groups tuned: 12 of 21 (400 trials)", "groups tuned: none of 21; by predicted times: 3 (60
/// trials)"
std::string Describe(const KnownTrials& known);
/// One line, where groups were measured by earlier versions: what becomes of that, as the model
/// is tuned or only compiled. Empty otherwise.
std::string DescribeEarlier(const KnownTrials& known, bool tunes);

struct CompileReport {
  std::vector<KernelReport> kernels;  // in the order of the Executable's steps
  KnownTrials known;
  TuneReport tuning;
  int objects_compiled = 0;
  int objects_reused = 0;
  double passes_ms = 0;
  double compile_ms = 0;
  int nodes_before = 0;
  int nodes_after = 0;
  int launches = 0;  // kernels and copies of a run
  int phases = 0;    // of all launches: each ends with a barrier
  int64_t arena_bytes = 0;
};
/// Kernels of different workloads.
size_t CountDistinctKernels(const CompileReport& report);

struct CompiledModel {
  std::shared_ptr<const Executable> executable;
  CompileReport report;
};

/// Compiles `graph`. `database` may be null: nothing is looked up or kept, and trials must
/// be 0. For a target that this machine is not, trials are kDevice, and the executable refuses
/// to run. Errors: those of the passes, of lowering (kUnsupported lists the nodes), of devices;
/// a cancelled tuning is kCancelled after what was measured has been kept.
Result<CompiledModel> Compile(const Graph& graph, Database* database,
                              const CompileOptions& options);

/// The graph after the passes and its groups with their lowerings: what `tunec show` prints.
struct GroupReport {
  FusionGroup group;
  std::vector<NamedCompute> lowerings;
};
struct FrontReport {
  Graph graph;
  size_t outputs = 0;  // of the model; the graph's others are indices that are there to be checked
  std::vector<UnprovenIndices> unproven;
  std::vector<GroupReport> groups;  // as in `fusion`, with their lowerings
  FusionPlan fusion;
  std::vector<PassRecord> passes;  // that ran
  /// Of constants that groups read, their StableHash; none where packings are not shared.
  std::map<ValueId, std::string> contents = {};
};
PipelineOptions PassesOf(const CompileOptions& options);
Result<FrontReport> RunFrontEnd(const Graph& graph, const CompileOptions& options);

/// Of one dimension: the sizes that are compiled for.
struct DimSizes {
  std::vector<int64_t> sizes;
  bool exact = true;  // false: those that the sizes of a range are rounded up to

  bool IsOpen() const { return sizes.size() > 1 || !exact; }
  bool operator==(const DimSizes&) const = default;
};
struct ModelOptions {
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Of ONNX inputs: the sizes of open dimensions by the names that the model gives them. LoadModel
  /// wants one of each; for several see compiler/sized/.
  std::map<std::string, DimSizes> dims;
  /// How inputs and outputs lie in memory, by their names (graph/edge_layouts.h); others are
  /// row-major.
  std::map<std::string, std::string> layouts;
  /// Of ONNX inputs: the .npy file with the input's value. Such an input is a constant, and no
  /// input of what is compiled.
  std::map<std::string, std::string> constants;
  std::optional<uint64_t> random_weights;
  /// An ONNX model's external data is in this folder. Empty: in that of the model's file.
  std::string external_data;
  /// Of ONNX inputs: the shapes of the arrays that the model will be run on, for inputs with open
  /// dimensions that nothing above fixes. Other names are passed over.
  std::map<std::string, std::vector<int64_t>> shapes_of_arrays;
  OptionSpelling spelling = OptionSpelling::kFlags;  // in messages
};
/// Reads a model file by its ending (.onnx, .graph; weights from the .safetensors beside it, or
/// random under `random_weights`).
Result<Graph> LoadModel(const std::string& path, const ModelOptions& options);

/// The same, and all files that were read for it, from before that: the model's, those of its
/// weights, those of the constants.
struct LoadedModel {
  Graph graph;
  std::vector<FileStamp> files;
};
Result<LoadedModel> LoadModelOfFiles(const std::string& path, const ModelOptions& options);

/// The same from memory, which may go afterwards. `format` is `onnx` or `graph`; empty, it is told
/// from how the bytes begin. There is no folder: external data of an ONNX model is kUnsupported
/// unless the options name one, and a .graph text can have random weights only. Messages call the
/// model `<memory>`.
Result<Graph> LoadModelBytes(std::span<const std::byte> bytes, std::string_view format,
                             const ModelOptions& options);

/// A .graph text whose weights come from `weights`. Messages call it `<memory>`, too.
Result<Graph> LoadGraphText(std::string_view text, const WeightSource& weights,
                            const ModelOptions& options);

}  // namespace tunec
