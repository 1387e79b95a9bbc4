#include "tools/terminal/usage_error.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string_view>
#include <vector>

#include "support/suggest.h"

namespace tunec {
namespace {

/// Returns the message without final periods and newlines. The first letter becomes lower case if a
/// lower-case letter follows.
std::string InOurStyle(std::string message) {
  const bool word = message.size() > 1 && std::islower(static_cast<unsigned char>(message[1]));
  if (word) message[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(message[0])));
  while (!message.empty() && (message.back() == '.' || message.back() == '\n')) message.pop_back();
  return message;
}

std::vector<std::string_view> NamesOf(const std::vector<const CLI::App*>& commands) {
  std::vector<std::string_view> names;
  for (const CLI::App* command : commands) names.push_back(command->get_name());
  return names;
}

std::vector<const CLI::App*> CommandsOf(const CLI::App& parent) {
  return parent.get_subcommands([](const CLI::App*) { return true; });
}

/// Returns "tunec db list", or "tunec MODEL" for the root command.
std::string FullName(const CLI::App& command) {
  if (command.get_parent() == nullptr) return command.get_name() + " MODEL";
  std::string name = command.get_name();
  for (const CLI::App* above = command.get_parent(); above != nullptr; above = above->get_parent())
    name = fmt::format("{} {}", above->get_name(), name);
  return name;
}

/// Returns the innermost command that the parsed command line names, or `root` if none.
const CLI::App& NamedCommand(const CLI::App& root) {
  const CLI::App* command = &root;
  while (!command->get_subcommands().empty()) command = command->get_subcommands().back();
  return *command;
}

/// Returns the long options of one command, such as "--trials".
std::vector<std::string> OptionNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string ExplainOption(const CLI::App& root, const CLI::App& command, std::string word) {
  if (const size_t equals = word.find('='); equals != std::string::npos) word.resize(equals);
  const std::vector<std::string> own = OptionNames(command);
  const std::string message = fmt::format("unknown option {} of {}", word, FullName(command));
  const std::vector<std::string_view> known(own.begin(), own.end());
  const std::string meant = DidYouMean(word, known);
  std::vector<std::string> others;
  for (const CLI::App* other : CommandsOf(root)) {
    const std::vector<std::string> names = OptionNames(*other);
    if (std::ranges::find(names, word) != names.end()) others.push_back(FullName(*other));
  }
  if (!others.empty())
    return fmt::format("{}; {} {} it", message, fmt::join(others, ", "),
                       others.size() == 1 ? "has" : "have");
  return message + meant;
}

std::string ExplainArgument(const CLI::App& root, const CLI::App& command,
                            const std::string& word) {
  const std::vector<std::string_view> names = NamesOf(CommandsOf(command));
  if (&command != &root && !names.empty())
    return fmt::format("unknown command {} of {}, expected one of {}{}", word, FullName(command),
                       fmt::join(names, ", "), DidYouMean(word, names));
  // CLI11 took an earlier word for the MODEL of the root command.
  if (&command == &root) {
    const std::string model = root.get_option("MODEL")->as<std::string>();
    if (const auto explained = ExplainMisspeltCommand(root, model)) return *explained;
  }
  return fmt::format("unexpected argument {} of {}", word, FullName(command));
}

}  // namespace

std::string ExplainParseError(const CLI::App& root, const CLI::ParseError& error) {
  const CLI::App& command = NamedCommand(root);
  const std::vector<std::string> words = root.remaining(/*recurse=*/true);
  const auto option = std::ranges::find_if(
      words, [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); });
  if (option != words.end()) return ExplainOption(root, command, *option);
  if (!words.empty()) return ExplainArgument(root, command, words.front());
  return InOurStyle(error.what());
}

std::optional<std::string> ExplainMisspeltCommand(const CLI::App& root, const std::string& model) {
  std::error_code ignored;
  if (std::filesystem::exists(model, ignored)) return std::nullopt;
  const std::string meant = DidYouMean(model, NamesOf(CommandsOf(root)));
  if (meant.empty()) return std::nullopt;
  return fmt::format("there is no command and no file {}{}", model, meant);
}

}  // namespace tunec
