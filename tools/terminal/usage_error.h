// What is wrong with a command line, and what may have been meant.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Error.hpp>
#include <optional>
#include <string>

namespace tunec {

/// A message in our style for what CLI11 found while parsing. Words that no command knows come
/// first, with the command or option that is spelt alike.
std::string ExplainParseError(const CLI::App& root, const CLI::ParseError& error);

/// The same for a MODEL that is no file but spelt like a command; nothing for others.
std::optional<std::string> ExplainMisspeltCommand(const CLI::App& root, const std::string& model);

}  // namespace tunec
