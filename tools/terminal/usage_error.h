// Functions that explain errors of a command line and suggest corrections.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Error.hpp>
#include <optional>
#include <string>

namespace tunec {

/// Returns a message in tunec's style for an error of CLI11's parser. An unknown option has
/// priority, then an unexpected word. The message may suggest a correction.
std::string ExplainParseError(const CLI::App& root, const CLI::ParseError& error);

/// Returns a message for a MODEL that does not exist but is like a command's name, else nothing.
std::optional<std::string> ExplainMisspeltCommand(const CLI::App& root, const std::string& model);

}  // namespace tunec
