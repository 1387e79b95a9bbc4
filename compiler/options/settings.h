// Settings of reading and compiling a model. The command's options and the keys of the C
// interface's JSON object come from one table, SettingTable, so both have the same settings.
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
#include "compiler/options/open_database.h"
#include "db/database.h"
#include "ir/target.h"
#include "support/error.h"

namespace tunec {

/// The values of all settings.
struct Settings : ModelOptions {
  std::string target = "cpu";
  std::string arch;      // arch of the device; empty: the arch of this machine's GPU
  std::string gpu;       // GPU of the arch; empty: an assumed GPU
  bool emulate = false;  // run a device's kernels on the host
  std::string device;    // number or UUID of the device; empty: the first that runs the code
  double hang_seconds = kHangSeconds;  // seconds after which a device's run counts as hung
  int trials = 0;                      // trials of the whole model, including recorded ones
  double time_limit_seconds = 0;       // limit of tuning; 0: none
  bool background = false;             // the library tunes after the call that compiles
  std::vector<std::string> retune;     // groups, or "all"
  bool tuned_only = false;             // measure nothing; every schedule must be tuned
  bool verbose = false;
  DatabaseChoice database;
  int db_limit = 1024;  // MiB of stored objects
  int threads = 0;      // 0: one per core
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
  bool timing_lock = true;     // time only while no other tuner of this user does
  bool perf_map = false;

  FloatRules float_rules() const { return fast_math ? FloatRules::kFast : FloatRules::kStrict; }
};

/// A pointer to the field of Settings that a setting fills. The field's type determines the form of
/// the setting's value.
using SettingField =
    std::variant<bool Settings::*, int Settings::*, double Settings::*, uint64_t Settings::*,
                 std::optional<uint64_t> Settings::*, std::string Settings::*, Accuracy Settings::*,
                 DatabaseChoice Settings::*, std::vector<std::string> Settings::*,
                 std::map<std::string, std::string> Settings::*,
                 std::map<std::string, std::vector<int64_t>> Settings::*,
                 std::map<std::string, DimSizes> Settings::*>;

/// A setting, as a row of SettingTable.
struct Setting {
  std::string_view name;   // the key of the JSON object
  std::string_view flag;   // option of the command, for lists and maps repeatable; empty: none
  std::string_view value;  // name of a value in help texts: FILE
  std::string_view help;   // one line of help for both spellings
  /// Value that the flag sets in a field for a bool. The default value is the other one.
  bool sets = true;
  /// Value of the flag if the user gives no value; empty: the flag requires a value. A flag for a
  /// bool has no value.
  std::string_view bare = {};
  std::string_view unset;  // default value, for help texts; empty: none
  SettingField field;
  int64_t most = 0;  // upper bound of an int field
  /// Checks the set value. The error's message is the expected value. Null means no check.
  Status (*check)(const Settings&) = nullptr;
};

/// Returns all settings in the order of the help texts.
std::span<const Setting> SettingTable();
/// Returns the setting with this name, or null.
const Setting* FindSetting(std::string_view name);

/// Parses "16", "16,32", the range "16..512", or the multiples of 32 in a range, "32..960:32". The
/// sizes of a range are replaced by those of RoundedSizes. Returns none for other texts, and for a
/// range that is empty, begins below 1 or ends above 2^40.
std::optional<DimSizes> ParseDimSizes(std::string_view text);

/// Returns the form of a value in JSON, for messages and documentation: {"INPUT": [N, ...], ...}.
std::string JsonForm(const Setting& setting);
/// Returns the lines of tunec.h that list the settings.
std::string DescribeAsC(std::span<const Setting> settings);

/// Reads the rules in the files. Returns null if the list is empty.
Result<std::shared_ptr<const RuleSet>> ReadRules(const std::vector<std::string>& files);
/// Returns the target of the kernels. Errors: those of ParseCpu, CudaAccelerator and DetectCuda;
/// kInvalidArgument for options that do not fit the target.
Result<Target> TargetOf(const Settings& settings);
/// Returns the options for Compile. The caller sets the callbacks.
Result<CompileOptions> MakeCompileOptions(const Settings& settings);

/// Returns the path of the database: the file that the user named, else the default file. Errors:
/// those of DefaultDatabasePath. Requires: the choice is not kNone.
Result<std::string> DatabasePath(const DatabaseChoice& choice);
/// Opens the database for these settings by OpenChosenDatabase.
Result<std::unique_ptr<Database>> OpenDatabase(const Settings& settings,
                                               const std::function<void(const std::string&)>& log);

}  // namespace tunec
