#include "jit/cuda/toolkit.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <sstream>

#include "support/own_folders.h"
#include "support/subprocess.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLongestAnswer{10000};

// Returns the value of an environment variable, or an empty string if it is not set.
std::string Environment(const std::string& variable) {
  const char* const value = std::getenv(variable.c_str());
  return value == nullptr ? "" : value;
}

std::vector<fs::path> UsualFolders() {
  std::vector<fs::path> folders = OwnFolders();
  std::istringstream path{Environment("PATH")};
  for (std::string folder; std::getline(path, folder, ':');)
    if (!folder.empty()) folders.emplace_back(folder);
  const std::string home = Environment("CUDA_HOME");
  folders.push_back(fs::path(home.empty() ? "/usr/local/cuda" : home) / "bin");
  return folders;
}

bool CanBeRun(const fs::path& program) {
  return access(program.c_str(), X_OK) == 0 && !fs::is_directory(program);
}

Result<std::string> PathOf(const ToolkitSearch& search) {
  if (std::string named = Environment(search.variable); !named.empty()) {
    if (CanBeRun(named)) return named;
    return Fail(ErrorCode::kNotFound, "{} names '{}', which is not an executable program",
                search.variable, named);
  }
  for (const fs::path& folder : UsualFolders()) {
    const fs::path program = folder / search.name;
    if (CanBeRun(program)) return program.string();
  }
  return Fail(
      ErrorCode::kNotFound,
      "no {}, {}, in PATH or a CUDA toolkit: `pip install {}` installs one; or name its file "
      "with {}",
      search.name, search.purpose, search.package, search.variable);
}

}  // namespace

Result<ToolkitProgram> FindToolkitProgram(const ToolkitSearch& search) {
  ToolkitProgram program;
  TUNEC_ASSIGN(program.path, PathOf(search));
  TUNEC_ASSIGN(const ProcessResult answer, RunProcess(program.path, {"--version"}, kLongestAnswer));
  Result<std::string> version = ToolkitVersion(answer.output);
  if (!version) {
    return Fail(version.error().code, "{} is not {}: {}", program.path, search.name,
                version.error().message);
  }
  program.version = *std::move(version);
  return program;
}

Result<std::string> ToolkitVersion(std::string_view output) {
  static const std::regex kVersion(R"(V(\d+\.\d+\.\d+))");
  std::match_results<std::string_view::const_iterator> match;
  if (std::regex_search(output.begin(), output.end(), match, kVersion)) return match[1].str();
  return Fail(ErrorCode::kParse, "its output has no version: {}", LastLine(output));
}

std::string LastLine(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  const size_t line = text.rfind('\n');
  return std::string(line == std::string_view::npos ? text : text.substr(line + 1));
}

}  // namespace tunec
