// `tunec help` prints the text of --help, a man page, or a script for completion in bash.
#include <CLI/CLI.hpp>

#include "support/suggest.h"
#include "tools/commands/commands.h"
#include "tools/commands/man_page.h"

namespace tunec {
namespace {

struct HelpArguments {
  std::vector<std::string> words;  // for example "db" and "list"
  bool man_page = false;
  bool bash_completion = false;
};

std::vector<const CLI::App*> CommandsOf(const CLI::App& parent, const std::string& name) {
  return parent.get_subcommands(
      [&name](const CLI::App* command) { return name.empty() || command->check_name(name); });
}

Result<int> PrintHelp(const CLI::App& root, const HelpArguments& arguments) {
  if (arguments.man_page || arguments.bash_completion) {
    fmt::print("{}", arguments.man_page ? ManPage(root) : BashCompletion(root));
    return kExitOk;
  }
  const CLI::App* command = &root;
  std::string name = root.get_name();
  for (const std::string& word : arguments.words) {
    const std::vector<const CLI::App*> found = CommandsOf(*command, word);
    if (found.empty()) {
      std::vector<std::string_view> known;
      for (const CLI::App* one : CommandsOf(*command, "")) known.push_back(one->get_name());
      return Fail(ErrorCode::kInvalidArgument, "there is no command {}{}{}", word,
                  command == &root ? "" : " of " + name, DidYouMean(word, known));
    }
    command = found.front();
    name += " " + word;
  }
  fmt::print("{}", command->get_formatter()->make_help(command, name, CLI::AppFormatMode::Normal));
  return kExitOk;
}

}  // namespace

void AddHelpCommand(CLI::App& root, Invocation& invocation) {
  const auto arguments = std::make_shared<HelpArguments>();
  const auto print = [&root](const HelpArguments& asked) { return PrintHelp(root, asked); };
  CLI::App& command =
      AddSubcommand(root, invocation, "help", "explain a command", arguments, print);
  command.add_option("COMMAND", arguments->words, "such as bench, or db list")->type_name("");
  CLI::Option* man = command.add_flag("--man-page", arguments->man_page, "print the page of man");
  command
      .add_flag("--bash-completion", arguments->bash_completion,
                "print a script that completes words in bash")
      ->excludes(man);
}

}  // namespace tunec
