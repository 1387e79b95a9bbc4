// `tunec doctor` reports the features of this machine and the libraries linked into tunec.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "autotune/measure/roofline.h"
#include "autotune/worker/find_worker.h"
#include "db/version.h"
#include "graph/onnx/file/tensor_file.h"
#include "ir/tile_intrinsic.h"
#include "jit/code_generator.h"
#include "jit/cpu/detect_cpu.h"
#include "polyhedral/legality/legality.h"
#include "tools/commands/commands.h"
#include "tools/commands/doctor_bundle.h"
#include "tools/commands/doctor_cuda.h"
#include "tools/options/setting_options.h"
#include "tools/runs/peaks.h"
#include "tools/terminal/text_table.h"

namespace tunec {
namespace {

struct DoctorArguments {
  std::string bundle;  // bundle to examine instead of the machine; may be empty
  Settings settings;   // database and threads
  bool measure = false;
  bool json = false;
};

/// A sequence of checks that reports results and counts problems.
class Doctor {
 public:
  explicit Doctor(const DoctorArguments& arguments) : arguments_(arguments) {}

  void ExamineCpu();
  void ExamineCeilings();
  void ExamineDatabase();
  void ExamineCuda();
  void ExamineVersions();
  nlohmann::ordered_json Json() const;
  int problems() const { return problems_; }

 private:
  Result<Roofline> FindCeilings();
  void Say(std::string_view what, const std::string& found) { Report(what, found, true); }
  void Problem(std::string_view what, const std::string& found) {
    ++problems_;
    Report(what, found, false);
  }
  // In text form, each line appears as soon as it is available, because measuring takes a while.
  void Report(std::string_view what, const std::string& found, bool ok) {
    rows_.AddRow({std::string(what), found, {"", ok}});
    if (!arguments_.json) fmt::print("{:<12}{}{}\n", what, ok ? "" : "problem: ", found);
  }

  const DoctorArguments& arguments_;
  Target target_;
  std::unique_ptr<Database> database_;
  CudaFindings cuda_ = {.findings = {}, .gpus = TextTable({})};
  TextTable rows_{{{"what"}, {"found"}, {"ok"}}};
  int problems_ = 0;
};

/// Returns whether Linux lists AMX among the processor's features, even if it may not be used.
bool ProcessorHasAmx() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("flags")) return line.contains(" amx_tile");
  }
  return false;
}

// Returns the names of the tile intrinsics for targets of this kind, each with the features that
// the target lacks.
std::string TileText(const Target& target) {
  std::string text;
  for (const TileIntrinsic& intrinsic : TileIntrinsics()) {
    if (intrinsic.target != target.Kind()) continue;
    const std::vector<std::string> missing = MissingFeatures(intrinsic, target);
    text += (text.empty() ? "" : ", ") + intrinsic.name;
    if (!missing.empty()) text += fmt::format(" (lacks {})", fmt::join(missing, " "));
  }
  return text;
}

void Doctor::ExamineCpu() {
  target_ = DetectCpu(arguments_.settings.threads);
  Say("cpu", fmt::format("{}, {}, {}", target_.host.cpu, CountText(target_.host.cores, "core"),
                         CountText(target_.host.threads, "thread")));
  Say("features", fmt::format("{}", fmt::join(target_.host.features, " ")));
  Say("vectors", fmt::format("{} bits, {} registers", target_.host.vector_bits,
                             target_.host.vector_registers));
  const bool granted = target_.Has("amx-tile");
  Say("amx", granted             ? "granted by the kernel"
             : ProcessorHasAmx() ? "in the processor, not granted by the kernel"
                                 : "none");
  Say("tiles", TileText(target_));
  Say("caches",
      fmt::format("L1 {}, L2 {}, L3 {}", BytesText(static_cast<double>(target_.host.l1_bytes)),
                  BytesText(static_cast<double>(target_.host.l2_bytes)),
                  BytesText(static_cast<double>(target_.host.l3_bytes))));
  if (const auto usable = ParseCpu("native", arguments_.settings.threads); !usable)
    Problem("cpu", usable.error().message);
}

void Doctor::ExamineDatabase() {
  const auto path = DatabasePath(arguments_.settings.database);
  if (!path) return Problem("database", path.error().message);
  // Only requested measurements are recorded; other runs do not change the database.
  auto database =
      Database::Open(*path, arguments_.measure ? OpenMode::kReadWrite : OpenMode::kReadOnly);
  const bool chosen = arguments_.settings.database.kind == DatabaseChoice::Kind::kFile;
  if (!database && database.error().code == ErrorCode::kNotFound && !chosen)
    return Say("database", *path + ", not there yet");
  if (!database) return Problem("database", database.error().message);
  std::ranges::for_each(database->TakeMissReasons(), PrintNote);
  database_ = std::make_unique<Database>(std::move(*database));
  const auto stats = database_->Stats();
  if (!stats) return Problem("database", stats.error().message);
  Say("database", fmt::format("{}, {} workloads, {} trials, {} objects", *path, stats->workloads,
                              stats->trials, stats->artifacts));
}

// Returns the machine's ceilings. If --measure is given, all are measured, and if a database is
// open, combined with recorded ceilings and recorded. Otherwise recorded ceilings are returned, and
// only missing or unreliable ones are measured, without recording.
Result<Roofline> Doctor::FindCeilings() {
  const std::vector<const MacInstruction*> all = MacInstructionsOf(target_);
  if (!arguments_.measure) return RecordedOrMeasured(database_.get(), target_, all);
  TUNEC_ASSIGN(Roofline measured, RecordedOrMeasured(nullptr, target_, all));
  if (database_ == nullptr) return measured;
  return RecordRoofline(*database_, target_, measured);
}

namespace {

// Returns a remark if the disturbance is above kMostDisturbance, or an empty string.
std::string ProvisionalText(double disturbance) {
  if (disturbance <= kMostDisturbance) return "";
  return fmt::format("; provisional: others had {:.0f} % of the machine", 100 * disturbance);
}

// Returns a text such as "1.2 TFLOP/s bf16 multiply-adds (amx.bf16)", followed by ProvisionalText.
std::string ArithmeticText(const MacInstruction& by, const ArithmeticCeiling& ceiling) {
  return fmt::format("{}{} {}{}", QuantityText(ceiling.flops), RateUnit(by), Describe(by),
                     ProvisionalText(ceiling.disturbance));
}

}  // namespace

void Doctor::ExamineCeilings() {
  const Result<Roofline> roofline = FindCeilings();
  if (!roofline) return Problem("ceilings", roofline.error().message);
  std::string caches;
  for (size_t level = 0; level < roofline->caches.size(); ++level) {
    const double rate = roofline->caches[level].bytes_per_second;
    if (rate > 0) caches += fmt::format(", {}B/s in L{}", QuantityText(rate), level + 1);
  }
  Say("ceilings", fmt::format("{}FLOP/s f32 multiply-adds{}, {}B/s copy in memory, {}{}",
                              QuantityText(roofline->Float32().flops), caches,
                              QuantityText(roofline->bytes_per_second),
                              CountText(target_.host.threads, "thread"),
                              ProvisionalText(roofline->Float32().disturbance)));
  for (const MacInstruction* by : MacInstructionsOf(target_)) {
    if (by == &Float32Fma()) continue;
    const std::optional<ArithmeticCeiling> ceiling = roofline->CeilingOf(*by);
    if (ceiling) {
      Say("arithmetic", ArithmeticText(*by, *ceiling));
    } else {
      Problem("arithmetic", fmt::format("{} cannot be measured here", Describe(*by)));
    }
  }
}

void Doctor::ExamineCuda() {
  cuda_ = tunec::ExamineCuda();
  for (const auto& [what, found, ok] : cuda_.findings) ok ? Say(what, found) : Problem(what, found);
}

void Doctor::ExamineVersions() {
  Say("tunec", TUNEC_VERSION);
  Say("code", CodeGeneratorVersion(target_));
  // libLLVM exports Polly's isl, built with IMath. This copy must not replace the linked isl.
  const std::string isl = IslVersion();
  if (isl.contains("IMath")) {
    Problem("isl", fmt::format("{} is the one inside libLLVM, expected libisl's", isl));
  } else {
    Say("isl", isl);
  }
  Say("sqlite", SqliteVersion());
  if (const auto worker = FindWorker()) {
    Say("worker", *worker);
  } else {
    Problem("worker", worker.error().message);
  }
}

nlohmann::ordered_json Doctor::Json() const {
  return {{"checks", rows_.Json()},
          {"cuda", CudaJson(cuda_)},
          {"gpus", cuda_.gpus.Json()},
          {"problems", problems_}};
}

Result<int> Diagnose(const DoctorArguments& arguments) {
  if (!arguments.bundle.empty())
    return DiagnoseBundle(arguments.bundle, arguments.json ? OutputForm::kJson : OutputForm::kText);
  Doctor doctor(arguments);
  doctor.ExamineCpu();
  if (arguments.settings.database.kind != DatabaseChoice::Kind::kNone) doctor.ExamineDatabase();
  doctor.ExamineCeilings();
  doctor.ExamineCuda();
  doctor.ExamineVersions();
  if (arguments.json) PrintJson(doctor.Json());
  if (doctor.problems() == 0) return kExitOk;
  return Fail(ErrorCode::kDevice, "{} found", CountText(doctor.problems(), "problem"));
}

}  // namespace

void AddDoctorCommand(CLI::App& root, Invocation& invocation) {
  const auto arguments = std::make_shared<DoctorArguments>();
  CLI::App& command =
      AddSubcommand(root, invocation, "doctor", "what this machine has", arguments, Diagnose);
  command.add_option("BUNDLE", arguments->bundle, "say what this file holds instead")
      ->type_name("FILE");
  AddDatabaseSettings(command, arguments->settings);
  AddSetting(command, arguments->settings, "threads");
  command.add_flag("--json", arguments->json, "print JSON");
  command.add_flag("--measure", arguments->measure, "measure the ceilings again, and keep them");
}

}  // namespace tunec
