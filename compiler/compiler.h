// The compiler's interface: functions that load a model and compile its graph to an Executable.
//
//   graph passes -> fusion groups -> lowerings -> (tuned) schedules -> kernels -> Executable
//
// Compiled objects and tuned schedules come from the database if it has them. So a second
// compilation with the same database and options compiles nothing. If all trials are spent, it also
// measures nothing.
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
#include "graph/open_dimensions.h"
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

class SharedPackedWeights;
class WeightSource;

struct CompileOptions {
  Target target;  // made by ParseCpu; TargetOf (options/settings.h) adds a GPU
  Accuracy accuracy;
  int trials = 0;                 // trials of the whole model, including earlier ones
  double time_limit_seconds = 0;  // limit of tuning, 0: none; the only limit if `trials` is 0
  /// Groups that are tuned with extra trials, even if their search has converged. All other groups
  /// are skipped. Each entry is a group's number, the name of a node, or "all". If the list is
  /// empty, all groups are tuned until they converge or a limit is reached.
  std::vector<std::string> retune;
  /// Compilation fails with kNotFound if a kernel has no schedule that was measured on this target.
  bool tuned_only = false;
  uint64_t seed = 0;
  std::vector<std::string> disabled_passes;
  std::shared_ptr<const RuleSet> user_rules;  // graph rewrites (docs/reference/rules.md); or null
  FloatRules float_rules = FloatRules::kStrict;  // kFast: --fast-math
  FusionMode fusion = FusionMode::kFused;
  SketchSet sketches = SketchSet::kAll;
  PerfMap perf_map = PerfMap::kOff;
  DeviceChoice device;         // choice among several devices that run the code
  int build_threads = 0;       // threads that compile kernels; 0: all usable processors
  bool share_threads = false;  // true: the executable runs on SharedPool, else on its own pool
  /// Weights and packed weights that are shared with other executables of the model. Schedules
  /// prefer the packed weights that already exist. If null, the executable shares no weights.
  std::shared_ptr<SharedPackedWeights> packed_weights = nullptr;
  std::string worker_path;  // path of tunec-worker; empty: found beside the program or library
  /// Kernels are timed only while no other tuner of this user does (measure/timing_lock.h).
  bool timing_lock = true;
  /// Number of bytes of compiled objects in the database. Beyond this number the oldest objects are
  /// removed after the kernels are built.
  int64_t stored_object_bytes = int64_t{1} << 30;
  /// Folder to which candidates are written that crash, time out, exceed the memory limit or give a
  /// wrong result, one file each; empty: none is written.
  std::string failure_folder;
  std::function<void(const TuneProgress&)> on_progress;
  std::function<void(const std::string&)> on_log;  // receives a line for users, without a newline
  /// Receives a debug line for developers, without a newline.
  std::function<void(const std::string&)> on_detail;
  std::function<bool()> cancelled;  // polled between candidates, and between kernels

  bool Tunes() const { return trials > 0 || time_limit_seconds > 0; }
};
inline constexpr int kUnlimitedTrials = std::numeric_limits<int>::max();

/// A row of the report: one kernel of the compiled model.
struct KernelReport {
  std::string name;           // "conv_3 add_3 relu_3": the nodes it computes
  std::string kind;           // "conv", "matmul", "softmax", ...
  std::string workload;       // hash of its workload
  std::string schedule;       // text
  std::string sketch_source;  // "tuned", "predicted", "near", "analytic" or "naive"
  double flops = 0;
  double bytes = 0;
  std::optional<KernelArithmetic> arithmetic;  // the arithmetic of its roofline
  int phases = 1;
  std::vector<PredictedPhase> predicted;  // one per phase; empty for the host's kernels
  /// Time of one run that the tuner measured on this target; none: there is no such time.
  std::optional<double> recorded_seconds;
  /// Predicted time of one run, if the schedule was chosen by prediction; otherwise none.
  std::optional<double> predicted_seconds;
  bool reused = false;             // the compiled object came from the database
  std::vector<std::string> notes;  // the lines that `on_log` received about its schedule
};

/// The numbers of tuned groups of the model, and of their trials, that the database already had.
struct KnownTrials {
  int64_t groups = 0;  // distinct groups
  int64_t tuned = 0;   // groups with correct measured trials for these options
  int64_t trials = 0;
  int64_t predicted = 0;         // groups with predicted trials for these options
  int64_t predicted_trials = 0;  // number of predicted trials, which were not measured
  int64_t earlier = 0;           // groups that are measured only under earlier policies
  std::string earlier_how;       // method for one of these groups: "under another policy (warm)"
  std::string elsewhere;  // a line, if more groups are tuned for other options; otherwise empty
};
/// Returns, for example, "groups tuned: 12 of 21 (400 trials)" or "groups tuned: none of 21; by
/// predicted times: 3 (60 trials)".
std::string Describe(const KnownTrials& known);
/// Returns a line if some groups were measured only with another policy or workload text, otherwise
/// an empty text. The line says how these trials are used. `tunes` is true if the model is tuned,
/// and false if it is only compiled.
std::string DescribeEarlier(const KnownTrials& known, bool tunes);

/// The times of a tuned model in turns with the model before this tuning.
struct GainInModel {
  double before_seconds = 0;  // median of a run before this tuning
  double ratio = 1;           // median ratio of the tuned model's runs to the earlier one's
  double low = 1;             // the 90 % interval of the ratio
  double high = 1;
  int restored = 0;  // distinct kernels whose earlier schedule is used, since tuning did not help
};

struct CompileReport {
  std::vector<KernelReport> kernels;  // in the order of the Executable's steps
  KnownTrials known;
  TuneReport tuning;
  /// None: nothing was measured, or no schedule has changed.
  std::optional<GainInModel> in_model;
  int objects_compiled = 0;
  int objects_reused = 0;
  double passes_ms = 0;
  double compile_ms = 0;
  int nodes_before = 0;
  int nodes_after = 0;
  int launches = 0;  // kernels and copies of a run
  int phases = 0;    // phases of all launches, each ends with a barrier; a copy counts as one
  int64_t arena_bytes = 0;
};
/// Returns the number of different workloads among the kernels.
size_t CountDistinctKernels(const CompileReport& report);

struct CompiledModel {
  std::shared_ptr<const Executable> executable;
  CompileReport report;
};

/// Compiles `graph`. If `database` is null, nothing is looked up or stored, and options.Tunes()
/// must be false. If this machine cannot run code of the target, trials fail with kDevice, and the
/// executable rejects runs. Errors: those of passes, tuning and devices; those of lowering, where
/// kUnsupported lists the nodes; kCancelled on cancellation. Trials measured before it are stored.
Result<CompiledModel> Compile(const Graph& graph, Database* database,
                              const CompileOptions& options);

/// A fusion group with its lowerings.
struct GroupReport {
  FusionGroup group;
  std::vector<NamedCompute> lowerings;
};
/// The result of the front half of compilation: the graph after the passes, and its groups. Options
/// of `tunec show` print both.
struct FrontReport {
  Graph graph;
  /// Number of the model's outputs; further outputs of the graph are indices to be checked.
  size_t outputs = 0;
  std::vector<UnprovenIndices> unproven;
  std::vector<GroupReport> groups;  // the groups of `fusion`, with their lowerings
  FusionPlan fusion;
  std::vector<PassRecord> passes;  // passes that ran
  /// StableHash of each constant that groups read; empty if packed weights are not shared.
  std::map<ValueId, std::string> contents = {};
};
PipelineOptions PassesOf(const CompileOptions& options);
Result<FrontReport> RunFrontEnd(const Graph& graph, const CompileOptions& options);

/// Sizes of one dimension for which code is compiled.
struct DimSizes {
  std::vector<int64_t> sizes;
  bool exact = true;  // false: the sizes of a range are rounded up to `sizes`
  /// Name of another dimension of an ONNX model with the same size. Then `sizes` is empty.
  std::string same_as = {};

  bool IsOpen() const { return sizes.size() > 1 || !exact; }
  bool operator==(const DimSizes&) const = default;
};
/// The treatment of a dimension without a given size by LoadModelOfFiles. A .graph text keeps its
/// names, except with kDefault.
enum class OpenSizes : uint8_t {
  kRejected,  // an error for ONNX models
  kNamed,     // a named size; default sizes for an ONNX model with a node that needs numbers
  kDefault,   // the default size (graph/open_dimensions.h)
};
struct ModelOptions {
  std::map<std::string, std::vector<int64_t>> shapes;
  /// Sizes of dynamic dimensions by name. LoadModel requires one size per dimension; for several
  /// sizes see compiler/sized/load_sized.h.
  std::map<std::string, DimSizes> dims;
  OpenSizes open_sizes = OpenSizes::kRejected;
  /// Layouts of inputs and outputs by name (graph/edge_layouts.h); all others are row-major.
  std::map<std::string, std::string> layouts;
  /// Values of ONNX inputs by name: numbers as JSON text such as 16000 or [1, 2], or .npy files.
  /// These inputs become constants and are not inputs of the compiled model.
  std::map<std::string, std::string> constants;
  std::optional<uint64_t> random_weights;
  /// Folder of an ONNX model's external data; empty: the folder of the model's file. A model in
  /// memory has no such folder.
  std::string external_data;
  /// Shapes of the arrays that the model will run on, by name. They fix dimensions of ONNX inputs
  /// that no other option fixes. Names of other tensors are ignored.
  std::map<std::string, std::vector<int64_t>> shapes_of_arrays;
  OptionSpelling spelling = OptionSpelling::kFlags;  // the spelling of options in messages
};
/// Reads a model file by its extension: .onnx, or .graph. The weights of a .graph come from the
/// .safetensors file beside it, or are random if `random_weights` is set.
Result<Graph> LoadModel(const std::string& path, const ModelOptions& options);

/// A model with all files that were read for it: the model's file and the files of weights and
/// constants. The stamps were taken before the files were read.
struct LoadedModel {
  Graph graph;
  std::vector<FileStamp> files;
  DefaultSizes default_sizes = {};  // sizes that were not given
};
Result<LoadedModel> LoadModelOfFiles(const std::string& path, const ModelOptions& options);

/// Reads a model from memory; the bytes may be freed afterwards. `format` is `onnx` or `graph`; if
/// it is empty, the format is detected from the first bytes. A model in memory has no folder. So an
/// ONNX model with external data fails with kUnsupported unless the options name a folder, and a
/// .graph text can only have random weights. In messages the model's name is `<memory>`.
Result<Graph> LoadModelBytes(std::span<const std::byte> bytes, std::string_view format,
                             const ModelOptions& options);

/// Reads a .graph text with the weights of `weights`. In messages the model's name is `<memory>`.
Result<Graph> LoadGraphText(std::string_view text, const WeightSource& weights,
                            const ModelOptions& options);

}  // namespace tunec
