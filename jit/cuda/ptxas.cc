#include "jit/cuda/ptxas.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <regex>
#include <sstream>

#include "runtime/cuda/cubin.h"
#include "support/file.h"
#include "support/subprocess.h"
#include "support/temporary_folder.h"

namespace tunec {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::milliseconds kLongestAssembly{120000};
constexpr size_t kMostPtxBytes = size_t{32} << 20;

Result<Ptxas> LookForPtxas() {
  TUNEC_ASSIGN(Ptxas ptxas, FindToolkitProgram({.name = "ptxas",
                                                .variable = "TUNEC_PTXAS",
                                                .purpose = "NVIDIA's assembler",
                                                .package = "nvidia-cuda-nvcc==13.0.88"}));
  if (const Status good = CheckPtxasVersion(ptxas.version); !good) {
    return Fail(good.error().code, "{} ({}); name another one with TUNEC_PTXAS",
                good.error().message, ptxas.path);
  }
  return ptxas;
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

int64_t NumberOf(const std::ssub_match& match) {
  int64_t number = 0;
  if (match.matched) std::from_chars(&*match.first, &*match.first + match.length(), number);
  return number;
}

}  // namespace

Status CheckPtxasVersion(std::string_view version) {
  // These versions write wrong code for sm_90 (openxla/xla, pull requests 7344 and 19927).
  const std::array<int, 3> numbers = NumbersOf(version);
  if (numbers >= std::array{12, 0, 0} && numbers < std::array{12, 6, 85}) {
    return Fail(ErrorCode::kDevice,
                "ptxas {} is known to write wrong code, expected 12.6.85 or later", version);
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
    return Fail(ErrorCode::kResourceLimit, "the PTX has {} bytes, expected at most {}", ptx.size(),
                kMostPtxBytes);
  TUNEC_ASSIGN(const TemporaryFolder folder, TemporaryFolder::Make());
  const fs::path in = folder / "kernel.ptx";
  const fs::path out = folder / "kernel.cubin";
  TUNEC_RETURN_IF_ERROR(WriteFileAtomically(in, ptx));
  TUNEC_ASSIGN(
      const ProcessResult done,
      RunProcess(ptxas.path, {"-v", "-arch=" + std::string(arch), "-o", out.string(), in.string()},
                 kLongestAssembly));
  // If the exit status is unknown, the existence of the output file shows success.
  if (done.exit_status ? *done.exit_status != 0 : !fs::exists(out))
    return Fail(ErrorCode::kInternal, "ptxas {} rejects the generated PTX: {}", ptxas.version,
                LastLine(done.output));
  Cubin cubin;
  ReadPtxasOutput(done.output, cubin);
  TUNEC_ASSIGN(cubin.bytes, ReadFile(out));
  if (!done.exit_status) TUNEC_RETURN_IF_ERROR(CheckCubin(cubin.bytes));
  return cubin;
}

}  // namespace tunec
