#include "jit/cuda/ptxas.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>
#include <system_error>

#include "support/file.h"
#include "support/subprocess.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLongestAssembly{120000};
constexpr std::chrono::milliseconds kLongestAnswer{10000};
constexpr size_t kMostPtxBytes = size_t{32} << 20;

// A folder for the files of one run, removed with this object.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> Make() {
    std::error_code problem;
    std::string pattern = (fs::temp_directory_path(problem) / "tunec-ptxas-XXXXXX").string();
    if (problem || mkdtemp(pattern.data()) == nullptr)
      return Fail(ErrorCode::kIo, "cannot make a folder for ptxas: {}", pattern);
    return TemporaryFolder(pattern);
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::move(other.path_)) {
    other.path_.clear();
  }
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  fs::path operator/(const char* name) const { return path_ / name; }

 private:
  explicit TemporaryFolder(fs::path path) : path_(std::move(path)) {}
  fs::path path_;
};

std::vector<std::string> PlacesOfPtxas() {
  std::vector<std::string> places;
  if (const char* named = std::getenv("TUNEC_PTXAS"); named != nullptr && *named != '\0') {
    return {named};
  }
  if (const char* path = std::getenv("PATH")) {
    std::istringstream folders{path};
    for (std::string folder; std::getline(folders, folder, ':');)
      if (!folder.empty()) places.push_back(folder + "/ptxas");
  }
  if (const char* home = std::getenv("CUDA_HOME"))
    places.push_back(std::string(home) + "/bin/ptxas");
  places.emplace_back("/usr/local/cuda/bin/ptxas");
  return places;
}

Result<Ptxas> LookForPtxas() {
  for (const std::string& place : PlacesOfPtxas()) {
    if (access(place.c_str(), X_OK) != 0 || fs::is_directory(place)) continue;
    TUNEC_ASSIGN(const ProcessResult answer, RunProcess(place, {"--version"}, kLongestAnswer));
    TUNEC_ASSIGN(std::string version, PtxasVersion(answer.output));
    TUNEC_RETURN_IF_ERROR(CheckPtxasVersion(version));
    return Ptxas{place, std::move(version)};
  }
  return Fail(ErrorCode::kNotFound,
              "no ptxas, NVIDIA's assembler, in PATH or a CUDA toolkit: `pip install "
              "nvidia-cuda-nvcc==13.0.88` brings one, and TUNEC_PTXAS names its file");
}

std::array<int, 3> NumbersOf(std::string_view version) {
  std::array<int, 3> numbers = {};
  const char* at = version.data();
  const char* const end = at + version.size();
  for (int& number : numbers) {
    at = std::from_chars(at, end, number).ptr;
    if (at != end) ++at;
  }
  return numbers;
}

std::string LastLine(std::string_view text) {
  while (!text.empty() && text.back() == '\n') text.remove_suffix(1);
  const size_t line = text.rfind('\n');
  return std::string(line == std::string_view::npos ? text : text.substr(line + 1));
}

int64_t NumberOf(const std::ssub_match& match) {
  int64_t number = 0;
  if (match.matched) std::from_chars(&*match.first, &*match.first + match.length(), number);
  return number;
}

}  // namespace

Result<std::string> PtxasVersion(std::string_view output) {
  static const std::regex kVersion(R"(V(\d+\.\d+\.\d+))");
  std::match_results<std::string_view::const_iterator> match;
  if (std::regex_search(output.begin(), output.end(), match, kVersion)) return match[1].str();
  return Fail(ErrorCode::kParse, "no version in what ptxas prints: {}", LastLine(output));
}

Status CheckPtxasVersion(std::string_view version) {
  // Wrong code for sm_90, seen by XLA (openxla/xla, issues 7344 and 19927).
  const std::array<int, 3> numbers = NumbersOf(version);
  if (numbers >= std::array{12, 0, 0} && numbers < std::array{12, 6, 85}) {
    return Fail(ErrorCode::kDevice,
                "ptxas {} is known to write wrong code, 12.6.85 or later is not", version);
  }
  return {};
}

Result<Ptxas> FindPtxas() {
  static const Result<Ptxas> found = LookForPtxas();
  return found;
}

void ReadPtxasOutput(std::string_view output, Cubin& cubin) {
  static const std::regex kFunction(R"(Function properties for (\S+))");
  static const std::regex kStack(
      R"((\d+) bytes stack frame, (\d+) bytes spill stores, (\d+) bytes spill loads)");
  static const std::regex kUsed(R"(Used (\d+) registers(?:, used (\d+) barriers)?)");
  std::istringstream lines{std::string(output)};
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    if (line.contains("warning")) cubin.warnings.push_back(line);
    if (std::regex_search(line, match, kFunction)) cubin.uses.push_back({.symbol = match[1]});
    if (cubin.uses.empty()) continue;
    PtxasUse& use = cubin.uses.back();
    if (std::regex_search(line, match, kStack)) {
      use.stack_bytes = NumberOf(match[1]);
      use.spilled_bytes = std::max(NumberOf(match[2]), NumberOf(match[3]));
    }
    if (std::regex_search(line, match, kUsed)) {
      use.registers = static_cast<int>(NumberOf(match[1]));
      use.barriers = static_cast<int>(NumberOf(match[2]));
    }
  }
}

Status CheckPtxasWarnings(const Cubin& cubin) {
  for (const std::string& warning : cubin.warnings) {
    if (!warning.contains("(C75")) continue;
    return Fail(ErrorCode::kUnsupported, "ptxas changes the kernel: {}", warning);
  }
  return {};
}

Result<Cubin> Assemble(const Ptxas& ptxas, std::string_view ptx, std::string_view arch) {
  if (ptx.size() > kMostPtxBytes)
    return Fail(ErrorCode::kResourceLimit, "{} bytes of PTX, at most {}", ptx.size(),
                kMostPtxBytes);
  TUNEC_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Make());
  const fs::path in = folder / "kernel.ptx";
  const fs::path out = folder / "kernel.cubin";
  TUNEC_RETURN_IF_ERROR(WriteFileAtomically(in, ptx));
  TUNEC_ASSIGN(
      const ProcessResult done,
      RunProcess(ptxas.path, {"-v", "-arch=" + std::string(arch), "-o", out.string(), in.string()},
                 kLongestAssembly));
  if (done.exit_status != 0)
    return Fail(ErrorCode::kInternal, "ptxas {} refuses our PTX: {}", ptxas.version,
                LastLine(done.output));
  Cubin cubin;
  ReadPtxasOutput(done.output, cubin);
  TUNEC_ASSIGN(cubin.bytes, ReadFile(out));
  return cubin;
}

}  // namespace tunec
