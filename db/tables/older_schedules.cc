#include "db/tables/older_schedules.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>

namespace tunec {
namespace {

// Names of the steps of version 1 that rewrite statements. In a schedule, these steps come directly
// after `lower`.
constexpr std::string_view kComputeSteps[] = {
    "pack", "copy", "cache_write", "index_split", "reduce_split", "inline", "precision", "widen"};

std::string_view TakeUpTo(char end, std::string_view& text) {
  const size_t size = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, size);
  text.remove_prefix(std::min(size + 1, text.size()));
  return taken;
}

enum class Argument { kNone, kVariable, kConstant };

// Returns kConstant for a constant weight of the workload, kVariable for another weight or input,
// else kNone. Reads the tensor's line, such as ` weight w1: f32[512, 1024] constant align 64`.
Argument FindArgument(std::string_view workload, std::string_view tensor) {
  while (!workload.empty()) {
    std::string_view line = TakeUpTo('\n', workload);
    line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
    const std::string_view role = TakeUpTo(' ', line);
    if (role != "input" && role != "weight") continue;
    if (TakeUpTo(':', line) != tensor) continue;
    const bool constant = role == "weight" && line.contains(" constant");
    return constant ? Argument::kConstant : Argument::kVariable;
  }
  return Argument::kNone;
}

// Returns the name of the copying statement that the step makes, if the old rule for loops applied
// to that statement.
std::optional<std::string> OrderedCopy(std::string_view step, std::string_view tensor,
                                       std::string_view workload) {
  if (step == "pack" && FindArgument(workload, tensor) != Argument::kNone) {
    return fmt::format("{}.pack", tensor);
  }
  if (step == "widen" && FindArgument(workload, tensor) == Argument::kConstant) {
    return fmt::format("{}.wide", tensor);
  }
  return std::nullopt;
}

}  // namespace

std::string WithStorageOrders(std::string_view schedule, std::string_view workload) {
  std::string rewriting;
  std::string orders;
  std::string_view rest = schedule;
  while (!rest.empty()) {
    std::string_view after = rest;
    const std::string_view line = TakeUpTo('\n', after);
    std::string_view words = line;
    const std::string_view step = TakeUpTo(' ', words);
    if (step != "lower" && std::ranges::find(kComputeSteps, step) == std::end(kComputeSteps)) break;
    rewriting.append(line).append("\n");
    const std::optional<std::string> copy = OrderedCopy(step, TakeUpTo(' ', words), workload);
    if (copy) orders += fmt::format("storage_order {} 64\n", *copy);
    rest = after;
  }
  if (orders.empty()) return std::string(schedule);
  return rewriting + orders + std::string(rest);
}

}  // namespace tunec
