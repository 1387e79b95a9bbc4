// What --help says, for `man` and for the shell that completes words.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace tunec {

/// A page in troff's man macros: `root`'s options, then each command with those of its own.
std::string ManPage(const CLI::App& root);

/// A script for bash: commands, options, else files.
std::string BashCompletion(const CLI::App& root);

}  // namespace tunec
