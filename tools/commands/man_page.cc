#include "tools/commands/man_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <vector>

namespace tunec {
namespace {

std::vector<const CLI::App*> CommandsOf(const CLI::App& parent) {
  return parent.get_subcommands([](const CLI::App*) { return true; });
}

/// Returns the text escaped for troff, including a control character at the beginning.
std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else {
      escaped += c;
    }
  }
  if (escaped.starts_with('.') || escaped.starts_with('\'')) escaped.insert(0, "\\&");
  return escaped;
}

/// Returns the option as in the help, such as "--trials N", "-o,--output FILE" or "MODEL".
std::string Spelling(const CLI::Option& option) {
  std::string text = option.get_name(false, true);
  if (!option.get_positional() && !option.get_type_name().empty() && option.get_type_size() != 0)
    text += " " + option.get_type_name();
  return text;
}

std::string OptionEntry(const CLI::Option& option) {
  return fmt::format(".TP\n.B {}\n{}\n", Escaped(Spelling(option)),
                     Escaped(option.get_description()));
}

bool IsSame(const CLI::Option& a, const CLI::Option& b) {
  return a.get_name() == b.get_name() && a.get_description() == b.get_description();
}

/// The listed options of a command. The page explains those in `shared` earlier.
struct Options {
  std::vector<std::string> shared;
  std::vector<const CLI::Option*> own;
};

Options OptionsOf(const CLI::App& command, const std::vector<const CLI::Option*>& explained) {
  Options options;
  for (const CLI::Option* option : command.get_options()) {
    const bool shared = std::ranges::any_of(
        explained, [&](const CLI::Option* known) { return IsSame(*known, *option); });
    if (!shared) {
      options.own.push_back(option);
    } else if (!option->get_lnames().empty() && option->get_name() != "--help") {
      options.shared.push_back("--" + option->get_lnames().front());
    }
  }
  return options;
}

std::string CommandSection(const CLI::App& command, const std::string& name,
                           const std::vector<const CLI::Option*>& explained) {
  std::string text =
      fmt::format(".SS {}\n{}.\n", Escaped(name), Escaped(command.get_description()));
  const Options options = OptionsOf(command, explained);
  if (!options.shared.empty())
    text += fmt::format(".br\nAs above: {}.\n",
                        Escaped(fmt::format("{}", fmt::join(options.shared, ", "))));
  for (const CLI::Option* option : options.own) text += OptionEntry(*option);
  for (const CLI::App* below : CommandsOf(command))
    text += CommandSection(*below, name + " " + below->get_name(), explained);
  return text;
}

/// Returns the subcommands and long options that may follow a command, separated by spaces.
std::string WordsOf(const CLI::App& command) {
  std::vector<std::string> words;
  for (const CLI::App* below : CommandsOf(command)) words.push_back(below->get_name());
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) words.push_back("--" + name);
  }
  return fmt::format("{}", fmt::join(words, " "));
}

struct Path {
  std::string commands;  // "db list", empty for the root
  std::string words;     // words that may follow
};

void CollectPaths(const CLI::App& command, const std::string& path, std::vector<Path>& paths) {
  paths.push_back({path, WordsOf(command)});
  for (const CLI::App* below : CommandsOf(command))
    CollectPaths(*below, path + (path.empty() ? "" : " ") + below->get_name(), paths);
}

}  // namespace

std::string ManPage(const CLI::App& root) {
  std::string text = fmt::format(
      ".TH TUNEC 1 \"\" \"{}\" \"User Commands\"\n.SH NAME\ntunec \\- {}\n.SH SYNOPSIS\n"
      ".B tunec\n.I MODEL\n[\\fIOPTION\\fR...]\n.br\n.B tunec\n.I COMMAND\n[\\fIARGUMENT\\fR...]\n"
      ".SH OPTIONS\n",
      Escaped(root.version()), Escaped("compile, tune and run tensor programs"));
  for (const CLI::Option* option : root.get_options()) text += OptionEntry(*option);
  text += ".SH COMMANDS\n";
  for (const CLI::App* command : CommandsOf(root))
    text += CommandSection(*command, "tunec " + command->get_name(), root.get_options());
  text += fmt::format(".SH EXIT STATUS\n{}\n", Escaped(root.get_footer()));
  text +=
      ".SH FILES\n.TP\n.I $XDG_CACHE_HOME/tunec/tunec.db\nThe tuning database, without \\-\\-db. "
      "XDG_CACHE_HOME is ~/.cache where it is not set.\n"
      ".TP\n.I $XDG_CACHE_HOME/tunec/object_key\nThe secret key that the user's compiled objects "
      "in tuning databases carry. It is for nobody else.\n";
  return text;
}

std::string BashCompletion(const CLI::App& root) {
  std::vector<Path> paths;
  CollectPaths(root, "", paths);
  std::vector<std::string> known;
  std::string cases;
  for (const Path& path : paths) {
    const size_t last = path.commands.rfind(' ');
    const std::string step = last == std::string::npos ? " " + path.commands : path.commands;
    if (!path.commands.empty()) known.push_back(fmt::format("\"{}\"", step));
    cases += fmt::format("    \"{}\") words=\"{}\" ;;\n", path.commands, path.words);
  }
  return fmt::format(
      "# Completion of tunec's commands and options in bash; made by tunec help "
      "--bash-completion.\n"
      "_tunec() {{\n"
      "  local word=\"${{COMP_WORDS[COMP_CWORD]}}\" path=\"\" words=\"\" i\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    case \"$path ${{COMP_WORDS[i]}}\" in\n"
      "      {}) path=\"${{path:+$path }}${{COMP_WORDS[i]}}\" ;;\n"
      "    esac\n"
      "  done\n"
      "  case \"$path\" in\n{}  esac\n"
      "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
      "  [[ $word == -* ]] || COMPREPLY+=($(compgen -f -- \"$word\"))\n"
      "}}\n"
      "complete -o filenames -F _tunec tunec\n",
      fmt::join(known, " | "), cases);
}

}  // namespace tunec
