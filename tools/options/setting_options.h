// Settings as options of the command: their flags, help and values.
#pragma once

#include <CLI/App.hpp>
#include <initializer_list>
#include <string_view>

#include "compiler/settings.h"

namespace tunec {

/// Adds the option of the setting called `name`; on the command line it fills `settings`, which
/// has to outlive `command`. A value that the setting does not take is a mistake of the user's.
CLI::Option& AddSetting(CLI::App& command, Settings& settings, std::string_view name);
void AddSettings(CLI::App& command, Settings& settings,
                 std::initializer_list<std::string_view> names);
/// --db FILE, --no-db.
void AddDatabaseSettings(CLI::App& command, Settings& settings);
/// Every setting of the table, and --no-db.
void AddAllSettings(CLI::App& command, Settings& settings);

/// Sets `setting` from one value on the command line; lists and maps grow by it. Errors name the
/// flag, the value and what was wanted.
Status SetFromText(Settings& settings, const Setting& setting, const std::string& text);

}  // namespace tunec
