#include "autotune/worker/case.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <sstream>

#include "autotune/measure/measure.h"
#include "autotune/worker/protocol.h"
#include "autotune/worker/verify_workload.h"
#include "device/open_device.h"
#include "support/file.h"
#include "support/hash.h"

namespace tunec {
namespace {

constexpr std::string_view kFirstLine = "tunec case 2";

std::string Section(std::string_view title, std::string_view body) {
  return fmt::format("{} {}\n{}\n", title, body.size(), body);
}

// A reader of a case file: lines, some of which end with the byte count of the text that follows.
class CaseReader {
 public:
  CaseReader(std::string_view text, std::string_view file) : text_(text), file_(file) {}

  bool IsAtEnd() const { return text_.empty(); }
  bool At(std::string_view word) const { return text_.starts_with(word); }

  std::string_view Line() {
    const size_t end = text_.find('\n');
    const std::string_view line = text_.substr(0, end);
    text_.remove_prefix(std::min(text_.size(), line.size() + 1));
    ++line_;
    return line;
  }

  /// Returns the text of the next line after `word` and one more character. Fails if the line does
  /// not begin with `word`.
  Result<std::string> Field(std::string_view word) {
    const std::string_view line = Line();
    if (!line.starts_with(word)) return Problem(fmt::format("expected '{}'", word));
    return std::string(line.substr(std::min(line.size(), word.size() + 1)));
  }

  Result<std::string> BodyOf(std::string_view size_text) {
    TUNEC_ASSIGN(const uint64_t size, Number(size_text));
    if (size > text_.size())
      return Problem(fmt::format("expected {} more bytes, the text ends", size));
    std::string body(text_.substr(0, size));
    line_ += static_cast<int>(std::ranges::count(body, '\n'));
    text_.remove_prefix(size);
    (void)Line();
    return body;
  }

  Result<uint64_t> Number(std::string_view text) {
    uint64_t value = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (problem != std::errc() || end != text.data() + text.size()) {
      return Problem(fmt::format("'{}' is not a number", text));
    }
    return value;
  }

  std::unexpected<Error> Problem(const std::string& message) const {
    return FailAt({.file = std::string(file_), .line = line_}, ErrorCode::kParse, "{}", message);
  }

 private:
  std::string_view text_;
  std::string_view file_;
  int line_ = 0;
};

constexpr std::string_view kCallers = "callers";

// Returns the line with the names of the callers' arguments; empty if there are none.
std::string CallersLine(const Workload& workload) {
  if (workload.callers.empty()) return {};
  return fmt::format("{} {}\n", kCallers, fmt::join(workload.callers, " "));
}

Status ReadCallers(CaseReader& reader, Workload& workload) {
  if (!reader.At(kCallers)) return {};
  TUNEC_ASSIGN(const std::string names, reader.Field(kCallers));
  std::istringstream words(names);
  for (std::string name; words >> name;) workload.callers.push_back(name);
  return {};
}

std::string OneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

Status ReadBodies(CaseReader& reader, std::string_view file_name, Case& failing) {
  while (!reader.IsAtEnd()) {
    const std::string_view line = reader.Line();
    const size_t last_space = line.rfind(' ');
    if (last_space == std::string_view::npos) return reader.Problem("expected a section");
    const std::string_view title = line.substr(0, last_space);
    TUNEC_ASSIGN(const std::string body, reader.BodyOf(line.substr(last_space + 1)));
    if (title == "schedule") {
      failing.candidate.schedule = body;
    } else if (title.starts_with("lowering ")) {
      NamedCompute lowering{.name = std::string(title.substr(9))};
      TUNEC_ASSIGN(lowering.compute, ParseCompute(body, file_name));
      failing.workload.lowerings.push_back(std::move(lowering));
    } else {
      return reader.Problem(fmt::format("unknown section '{}'", title));
    }
  }
  if (failing.workload.lowerings.empty()) return reader.Problem("there is no lowering");
  return {};
}

}  // namespace

std::string Print(const Case& failing) {
  std::string text = fmt::format("{}\nnote {}\ntarget {}\naccuracy {}\nseed {}\n", kFirstLine,
                                 OneLine(failing.note), EncodeTarget(failing.workload.target),
                                 Print(failing.workload.accuracy), failing.workload.seed);
  text += CallersLine(failing.workload);
  for (const NamedCompute& lowering : failing.workload.lowerings) {
    text += Section("lowering " + lowering.name, Print(lowering.compute));
  }
  return text + Section("schedule", failing.candidate.schedule);
}

Result<Case> ParseCase(std::string_view text, std::string_view file_name) {
  CaseReader reader(text, file_name);
  if (reader.Line() != kFirstLine) {
    return reader.Problem(fmt::format("expected '{}'", kFirstLine));
  }
  Case failing;
  TUNEC_ASSIGN(failing.note, reader.Field("note"));
  TUNEC_ASSIGN(const std::string target, reader.Field("target"));
  TUNEC_ASSIGN(failing.workload.target, DecodeTarget(target));
  TUNEC_ASSIGN(const std::string accuracy, reader.Field("accuracy"));
  TUNEC_ASSIGN(failing.workload.accuracy, ParseAccuracy(accuracy));
  TUNEC_ASSIGN(const std::string seed, reader.Field("seed"));
  TUNEC_ASSIGN(failing.workload.seed, reader.Number(seed));
  TUNEC_RETURN_IF_ERROR(ReadCallers(reader, failing.workload));
  TUNEC_RETURN_IF_ERROR(ReadBodies(reader, file_name, failing));
  TUNEC_RETURN_IF_ERROR(Verify(failing.workload));
  return failing;
}

Result<std::filesystem::path> WriteCase(const std::filesystem::path& folder, const Case& failing) {
  std::error_code problem;
  std::filesystem::create_directories(folder, problem);
  if (problem) {
    return Fail(ErrorCode::kIo, "cannot make folder '{}': {}", folder.string(), problem.message());
  }
  const std::string text = Print(failing);
  std::filesystem::path path = folder / fmt::format("case-{}.txt", StableHash(text).substr(0, 12));
  TUNEC_RETURN_IF_ERROR(WriteFileAtomically(path, text));
  return path;
}

Result<Measurement> RepeatCase(const Case& failing) {
  TUNEC_RETURN_IF_ERROR(CheckRunsHere(failing.workload.target));
  ThreadPool pool(failing.workload.target.host.threads);
  TUNEC_ASSIGN(Workbench bench, Workbench::Make(failing.workload, pool));
  return bench.Measure(bench.Compile(failing.candidate), std::nullopt);
}

}  // namespace tunec
