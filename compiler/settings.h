// What a user may choose about how a model is read and compiled. The command's options and the C
// interface's JSON object are two spellings of one table, SettingTable: a setting that it lacks
// exists in neither.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "autotune/accuracy.h"
#include "compiler/compiler.h"
#include "compiler/open_database.h"
#include "db/database.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// How the model is read, and how it is compiled.
struct Settings : ModelOptions {
  std::string target = "cpu";
  std::string arch;                    // of a device; empty: what this machine has
  std::string gpu;                     // of the arch; empty: an assumed one
  bool emulate = false;                // run a device's kernels on the host
  std::string device;                  // which of several; empty: the first that runs the code
  double hang_seconds = kHangSeconds;  // of a device, after which a run is said to hang
  int trials = 0;                      // of the whole model, recorded ones counted
  double time_limit_seconds = 0;       // of tuning; 0: none
  std::vector<std::string> retune;     // groups, or "all"
  bool verbose = false;
  DatabaseChoice database;
  int threads = 0;  // 0: one for each core
  bool share_threads = false;
  Accuracy accuracy;
  std::string cpu = "native";
  uint64_t seed = 0;
  std::vector<std::string> disabled_passes;
  std::vector<std::string> rules;  // files
  bool fast_math = false;
  bool naive = false;
  std::string failure_folder;  // empty: failing candidates are not written out
  std::string worker_path;     // empty: found beside the program or library
  bool perf_map = false;

  FloatRules float_rules() const { return fast_math ? FloatRules::kFast : FloatRules::kStrict; }
};

/// The field that a setting fills. Its type says what a value of the setting is.
using SettingField =
    std::variant<bool Settings::*, int Settings::*, double Settings::*, uint64_t Settings::*,
                 std::optional<uint64_t> Settings::*, std::string Settings::*, Accuracy Settings::*,
                 DatabaseChoice Settings::*, std::vector<std::string> Settings::*,
                 std::map<std::string, std::string> Settings::*,
                 std::map<std::string, std::vector<int64_t>> Settings::*,
                 std::map<std::string, DimSizes> Settings::*>;

struct Setting {
  std::string_view name;       // the key of the JSON object
  std::string_view flag;       // of the command; those of lists and maps are repeated
  std::string_view value;      // what the help calls one value: FILE
  std::string_view help;       // one line for both
  std::string_view bare = {};  // the value of the flag without one; empty: it needs one
  std::string_view unset;      // for people: what holds without it; empty: nothing
  SettingField field;
  int64_t most = 0;                            // of a field that is an int
  Status (*check)(const Settings&) = nullptr;  // after it was set; the message is what was wanted
};

/// In the order in which help texts list them.
std::span<const Setting> SettingTable();
/// The setting of this name; null without one.
const Setting* FindSetting(std::string_view name);

/// "16", "16,32" or the range "16..512", whose sizes are rounded up to those of RoundedSizes. None
/// where it is none of these.
std::optional<DimSizes> ParseDimSizes(std::string_view text);

/// How a value is written in JSON, for messages and documentation: {"NAME": [N, ...]}.
std::string JsonForm(const Setting& setting);
/// The lines of tunec.h that list the settings.
std::string DescribeAsC(std::span<const Setting> settings);

/// The rules of the files; null without any.
Result<std::shared_ptr<const RuleSet>> ReadRules(const std::vector<std::string>& files);
/// What kernels are compiled for. kInvalidArgument for a processor that is not known.
Result<Target> TargetOf(const Settings& settings);
/// What Compile is to be given. Callbacks are the caller's.
Result<CompileOptions> MakeCompileOptions(const Settings& settings);

/// Where the database is: the file chosen, else the user's. kNotFound without a home. Requires: a
/// database is wanted.
Result<std::string> DatabasePath(const DatabaseChoice& choice);
/// OpenChosenDatabase for these settings.
Result<std::unique_ptr<Database>> OpenDatabase(const Settings& settings,
                                               const std::function<void(const std::string&)>& log);

}  // namespace tunec
