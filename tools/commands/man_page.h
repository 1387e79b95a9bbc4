// Formats the help texts as a man page and as shell completion.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace tunec {

/// Returns a page of troff's man macros: options of `root`, then each command with its own options.
std::string ManPage(const CLI::App& root);

/// Returns a bash script that completes commands, options, and otherwise files.
std::string BashCompletion(const CLI::App& root);

}  // namespace tunec
