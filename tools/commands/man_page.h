// Functions that return a man page with the help texts, and a script for completion in bash.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace tunec {

/// Returns a page of troff's man macros. The options of `root` are explained before the commands.
/// Options of a command that equal those of `root` are not explained again.
std::string ManPage(const CLI::App& root);

/// Returns a bash script that completes commands, long options and names of files.
std::string BashCompletion(const CLI::App& root);

}  // namespace tunec
