// Functions that format the help texts as a man page and as a script for completion in bash.
#pragma once

#include <CLI/App.hpp>
#include <string>

namespace tunec {

/// Returns a page of troff's man macros. The options of `root` are first. Each command lists the
/// names of options that `root` has, too, and explains all other options.
std::string ManPage(const CLI::App& root);

/// Returns a bash script that completes commands, options, and otherwise files.
std::string BashCompletion(const CLI::App& root);

}  // namespace tunec
