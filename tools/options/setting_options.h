// Functions that add settings as options of a command, with flags, help and values.
#pragma once

#include <CLI/App.hpp>
#include <initializer_list>
#include <string_view>

#include "compiler/options/settings.h"

namespace tunec {

/// Adds the option of the setting called `name`. The option sets a field of `settings`, which must
/// outlive `command`. An invalid value is a user error.
CLI::Option& AddSetting(CLI::App& command, Settings& settings, std::string_view name);
void AddSettings(CLI::App& command, Settings& settings,
                 std::initializer_list<std::string_view> names);
/// Adds --db FILE and --no-db.
void AddDatabaseSettings(CLI::App& command, Settings& settings);
/// Adds every setting of the table, and --no-db.
void AddAllSettings(CLI::App& command, Settings& settings);

/// Sets `setting` from one value of the command line; lists and maps are extended by the value.
/// Errors contain the flag and the value.
Status SetFromText(Settings& settings, const Setting& setting, const std::string& text);

}  // namespace tunec
