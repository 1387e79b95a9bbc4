#include "compiler/options/settings.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>

#include "device/open_gpu.h"
#include "graph/rules/parse_rules.h"
#include "ir/array.h"
#include "jit/cpu/detect_cpu.h"
#include "jit/cuda/arch.h"
#include "runtime/sized/choose_sizes.h"

namespace tunec {
namespace {

constexpr int64_t kMostThreads = 1024;  // a larger number is rejected as a mistake
constexpr int64_t kMostTrials = std::numeric_limits<int>::max();
constexpr int64_t kMostObjectMiB = int64_t{1} << 30;

Status CheckTarget(const Settings& settings) {
  if (settings.target == "cpu" || settings.target == kCudaKind) return {};
  return Fail(ErrorCode::kInvalidArgument, "cpu or cuda");
}

Status CheckShapes(const Settings& settings) {
  for (const auto& [name, shape] : settings.shapes) {
    if (ElementCount(shape) < 0) return Fail(ErrorCode::kInvalidArgument, "at most 2^48 elements");
  }
  return {};
}

constexpr std::array kTable = {
    Setting{.name = "shapes",
            .flag = "--shape",
            .value = "SHAPE",
            .help = "shapes of inputs that have dynamic dimensions in the model",
            .field = &Settings::shapes,
            .check = CheckShapes},
    Setting{.name = "dims",
            .flag = "--dim",
            .value = "SIZE",
            .help = "sizes of dynamic dimensions by name; if several, or a range (16..512), others "
                    "round up",
            .field = &Settings::dims},
    Setting{
        .name = "layouts",
        .flag = "--layout",
        .value = "LAYOUT",
        .help = "layouts of inputs and outputs: channels_last, row_major, or axes, outermost first",
        .field = &Settings::layouts},
    Setting{.name = "constants",
            .flag = "--constant",
            .value = "VALUE",
            .help = "bind inputs that shapes depend on to numbers, such as 16000, or to .npy files",
            .field = &Settings::constants},
    Setting{.name = "random_weights",
            .flag = "--random-weights",
            .value = "SEED",
            .help = "fill the weights of a .graph from this seed",
            .field = &Settings::random_weights},
    Setting{.name = "external_data",
            .flag = "--external-data",
            .value = "FOLDER",
            .help = "the folder that holds the external data of an ONNX model",
            .unset = "the model's folder",
            .field = &Settings::external_data},
    Setting{.name = "target",
            .flag = "--target",
            .value = "NAME",
            .help = "what to compile for",
            .unset = "cpu",
            .field = &Settings::target,
            .check = CheckTarget},
    Setting{.name = "arch",
            .flag = "--arch",
            .value = "NAME",
            .help = "with cuda: what GPUs to compile for, sm_80 or later",
            .unset = "that of the first one here",
            .field = &Settings::arch},
    Setting{.name = "gpu",
            .flag = "--gpu",
            .value = "NAME",
            .help = "with arch: the GPU that times are predicted for, such as h200",
            .unset = "an assumed one",
            .field = &Settings::gpu},
    Setting{.name = "emulate",
            .flag = "--emulate",
            .help = "with cuda: run kernels on this machine's processor; trials predict times",
            .field = &Settings::emulate},
    Setting{.name = "device",
            .flag = "--device",
            .value = "N",
            .help = "with cuda: the GPU to run on, by its number or its UUID",
            .unset = "the first that fits",
            .field = &Settings::device},
    Setting{.name = "hang_after",
            .flag = "--hang-after",
            .value = "TIME",
            .help = "with cuda: a run that takes longer is a device error",
            .unset = "2m",
            .field = &Settings::hang_seconds},
    Setting{.name = "trials",
            .flag = "--trials",
            .value = "N",
            .help = "measured candidates for the whole model, recorded ones counted",
            .unset = "0",
            .field = &Settings::trials,
            .most = kMostTrials},
    Setting{
        .name = "time_limit",
        .flag = "--time-limit",
        .value = "TIME",
        .help =
            "ends tuning after this time, such as 30s, 10m or 1h; without trials the only limit",
        .field = &Settings::time_limit_seconds},
    Setting{.name = "background",
            .flag = "",
            .help = "tune after the call returns: runs use untuned code until tuning ends",
            .field = &Settings::background},
    Setting{.name = "retune",
            .flag = "--retune",
            .value = "GROUP",
            .help = "tune these converged groups again with extra trials: a number, a node's "
                    "name, or all",
            .bare = "all",
            .field = &Settings::retune},
    Setting{.name = "tuned_only",
            .flag = "--tuned-only",
            .help = "measure nothing, and fail if a kernel has no tuned schedule",
            .field = &Settings::tuned_only},
    Setting{.name = "verbose",
            .flag = "--verbose",
            .help = "also print notes on rejected schedules",
            .field = &Settings::verbose},
    Setting{.name = "db",
            .flag = "--db",
            .value = "FILE",
            .help = "the tuning database",
            .unset = "tunec/tunec.db in the user's cache folder",
            .field = &Settings::database},
    Setting{.name = "db_limit",
            .flag = "--db-limit",
            .value = "N",
            .help = "MiB of compiled objects in the database; the oldest are removed beyond",
            .unset = "1024",
            .field = &Settings::db_limit,
            .most = kMostObjectMiB},
    Setting{.name = "threads",
            .flag = "--threads",
            .value = "N",
            .help = "threads of a run",
            .unset = "0: one per core",
            .field = &Settings::threads,
            .most = kMostThreads},
    Setting{.name = "share_threads",
            .flag = "--share-threads",
            .help = "share one thread pool with other models of the process that set this",
            .field = &Settings::share_threads},
    Setting{.name = "accuracy",
            .flag = "--accuracy",
            .value = "CONTRACT",
            .help = "exact, f32, tf32, bf16, or a bound as a number",
            .unset = "f32",
            .field = &Settings::accuracy},
    Setting{.name = "cpu",
            .flag = "--cpu",
            .value = "NAME",
            .help = "native or an LLVM processor name, with ,-feature or ,+feature",
            .unset = "native",
            .field = &Settings::cpu},
    Setting{.name = "seed",
            .flag = "--seed",
            .value = "N",
            .help = "seed of the search",
            .unset = "0",
            .field = &Settings::seed},
    Setting{.name = "disable_pass",
            .flag = "--disable-pass",
            .value = "NAME",
            .help = "graph passes to omit",
            .field = &Settings::disabled_passes},
    Setting{.name = "rules",
            .flag = "--rules",
            .value = "FILE",
            .help = "files of graph rewrites, pattern => replacement",
            .field = &Settings::rules},
    Setting{.name = "fast_math",
            .flag = "--fast-math",
            .help = "allow rewrites that change results for NaN, infinities and signed zeros",
            .field = &Settings::fast_math},
    Setting{.name = "naive",
            .flag = "--naive",
            .help = "use only the naive schedules",
            .field = &Settings::naive},
    Setting{.name = "failures",
            .flag = "--failures",
            .value = "FOLDER",
            .help = "write each failing candidate to this folder as a case for tunec-worker "
                    "--repeat",
            .field = &Settings::failure_folder},
    Setting{.name = "worker",
            .flag = "--worker",
            .value = "FILE",
            .help = "the program that measures candidates",
            .unset = "tunec-worker beside the program or library",
            .field = &Settings::worker_path},
    Setting{.name = "timing_lock",
            .flag = "--no-lock",
            .help = "time kernels without waiting for other tuners of this user",
            .sets = false,
            .field = &Settings::timing_lock},
    Setting{.name = "perf_map",
            .flag = "--perf-map",
            .help = "write the names of kernels for the profiler perf",
            .field = &Settings::perf_map},
};

/// A visitor that returns the JSON form of a value, with one overload per type of field.
struct JsonFormVisitor {
  std::string_view value;
  bool sets;

  std::string operator()(bool Settings::*) const { return sets ? "true" : "false"; }
  std::string operator()(int Settings::*) const { return "N"; }
  std::string operator()(double Settings::*) const { return fmt::format("\"{}\"", value); }
  std::string operator()(uint64_t Settings::*) const { return "N"; }
  std::string operator()(std::optional<uint64_t> Settings::*) const { return "N"; }
  std::string operator()(std::string Settings::*) const { return fmt::format("\"{}\"", value); }
  std::string operator()(Accuracy Settings::*) const { return fmt::format("\"{}\"", value); }
  std::string operator()(DatabaseChoice Settings::*) const {
    return fmt::format("\"{}\" or null", value);
  }
  std::string operator()(std::vector<std::string> Settings::*) const {
    return fmt::format("[\"{}\", ...]", value);
  }
  std::string operator()(std::map<std::string, std::string> Settings::*) const {
    return fmt::format("{{\"INPUT\": \"{}\", ...}}", value);
  }
  std::string operator()(std::map<std::string, std::vector<int64_t>> Settings::*) const {
    return "{\"INPUT\": [N, ...], ...}";
  }
  std::string operator()(std::map<std::string, DimSizes> Settings::*) const {
    return "{\"NAME\": N or [N, ...] or \"N..M\" or \"N..M:STEP\" or \"OTHER NAME\", ...}";
  }
};

}  // namespace

std::span<const Setting> SettingTable() { return kTable; }

const Setting* FindSetting(std::string_view name) {
  const auto found = std::ranges::find(kTable, name, &Setting::name);
  return found == kTable.end() ? nullptr : &*found;
}

std::optional<DimSizes> ParseDimSizes(std::string_view text) {
  constexpr int64_t kMostOfRange = int64_t{1} << 40;
  const auto number = [](std::string_view digits) -> std::optional<int64_t> {
    int64_t value = -1;
    const char* const end = digits.data() + digits.size();
    const auto [stop, problem] = std::from_chars(digits.data(), end, value);
    if (problem != std::errc() || stop != end || value < 0) return std::nullopt;
    return value;
  };
  if (const size_t dots = text.find(".."); dots != std::string_view::npos) {
    const size_t colon = text.find(':');
    const auto least = number(text.substr(0, dots));
    const auto most = number(text.substr(0, colon).substr(dots + 2));
    const auto step = colon == std::string_view::npos ? 1 : number(text.substr(colon + 1));
    if (!least || !most || !step || *least < 1 || *least > *most || *most > kMostOfRange ||
        *step < 1 || *step > *most)
      return std::nullopt;
    return DimSizes{RoundedSizes(*least, *most, *step), /*exact=*/false};
  }
  DimSizes sizes;
  if (!text.empty() && (std::isalpha(static_cast<unsigned char>(text[0])) != 0 || text[0] == '_')) {
    sizes.same_as = text;
    return sizes;
  }
  for (bool more = true; more;) {
    const size_t comma = text.find(',');
    more = comma != std::string_view::npos;
    const auto size = number(text.substr(0, comma));
    if (!size) return std::nullopt;
    sizes.sizes.push_back(*size);
    if (more) text.remove_prefix(comma + 1);
  }
  return sizes;
}

std::string JsonForm(const Setting& setting) {
  return std::visit(JsonFormVisitor{setting.value, setting.sets}, setting.field);
}

std::string DescribeAsC(std::span<const Setting> settings) {
  std::string text;
  for (const Setting& setting : settings) {
    text +=
        fmt::format(" *   \"{}\": {}\n *       {}", setting.name, JsonForm(setting), setting.help);
    if (!setting.unset.empty()) text += fmt::format(" (default: {})", setting.unset);
    text += "\n";
  }
  return text;
}

Result<std::shared_ptr<const RuleSet>> ReadRules(const std::vector<std::string>& files) {
  if (files.empty()) return nullptr;
  TUNEC_ASSIGN(RuleSet rules, ReadRuleFiles(files));
  return std::make_shared<const RuleSet>(std::move(rules));
}

// Returns the GPU of the option `arch`, else this machine's GPU `device`, by default the first.
Result<Accelerator> GpuOf(const Settings& settings) {
  if (!settings.arch.empty()) return CudaAccelerator(settings.arch, settings.gpu);
  if (!settings.gpu.empty())
    return Fail(ErrorCode::kInvalidArgument, "option gpu needs option arch");
  Result<Accelerator> here = DetectCuda(settings.device);
  if (here) return here;
  return Fail(here.error().code, "{}; to compile for a GPU, name one with arch, sm_90a for example",
              here.error().message);
}

Status CheckDevice(const Settings& settings) {
  if (settings.device.empty() || !settings.emulate) return {};
  return Fail(ErrorCode::kInvalidArgument,
              "device names a GPU of this machine; emulated kernels run on its processor");
}

Result<Target> TargetOf(const Settings& settings) {
  TUNEC_ASSIGN(Target target, ParseCpu(settings.cpu, settings.threads));
  if (settings.target != kCudaKind) {
    for (const auto& [name, given] :
         {std::pair("emulate", settings.emulate), std::pair("arch", !settings.arch.empty()),
          std::pair("gpu", !settings.gpu.empty()), std::pair("device", !settings.device.empty()),
          std::pair("hang_after", settings.hang_seconds != kHangSeconds)}) {
      if (given) return Fail(ErrorCode::kInvalidArgument, "{} is for the target cuda", name);
    }
    return target;
  }
  TUNEC_RETURN_IF_ERROR(CheckDevice(settings));
  TUNEC_ASSIGN(target.device, GpuOf(settings));
  if (settings.emulate) target.device->features.emplace(kEmulated);
  return target;
}

Result<CompileOptions> MakeCompileOptions(const Settings& settings) {
  CompileOptions options;
  TUNEC_ASSIGN(options.target, TargetOf(settings));
  options.accuracy = settings.accuracy;
  options.trials = settings.trials;
  options.time_limit_seconds = settings.time_limit_seconds;
  options.retune = settings.retune;
  options.tuned_only = settings.tuned_only;
  if (options.tuned_only && options.Tunes())
    return Fail(ErrorCode::kInvalidArgument,
                "tuned_only measures nothing, so it takes no trials and no time limit");
  options.seed = settings.seed;
  options.disabled_passes = settings.disabled_passes;
  TUNEC_ASSIGN(options.user_rules, ReadRules(settings.rules));
  options.float_rules = settings.float_rules();
  options.sketches = settings.naive ? SketchSet::kNaiveOnly : SketchSet::kAll;
  options.perf_map = settings.perf_map ? PerfMap::kOn : PerfMap::kOff;
  options.device = {.name = settings.device, .hang_seconds = settings.hang_seconds};
  options.share_threads = settings.share_threads;
  options.worker_path = settings.worker_path;
  options.timing_lock = settings.timing_lock;
  options.stored_object_bytes = int64_t{settings.db_limit} << 20;
  options.failure_folder = settings.failure_folder;
  return options;
}

Result<std::string> DatabasePath(const DatabaseChoice& choice) {
  if (choice.kind == DatabaseChoice::Kind::kFile) return choice.path;
  return DefaultDatabasePath();
}

Result<std::unique_ptr<Database>> OpenDatabase(const Settings& settings,
                                               const std::function<void(const std::string&)>& log) {
  return OpenChosenDatabase(settings.database,
                            settings.trials > 0 || settings.time_limit_seconds > 0 ? 1 : 0, log);
}

}  // namespace tunec
