#include "tools/runs/trace_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace tunec {
namespace {

struct Total {
  std::string name;
  int64_t count = 0;
  int64_t elapsed = 0;
  int64_t processor = 0;
};

// Adds the times of a span, multiplied by 1 or -1.
void Add(Total& total, const TraceSpan& span, int factor) {
  total.elapsed += factor * (span.end - span.begin);
  total.processor += factor * span.processor;
}

TextTable TableOf(std::vector<Total> totals, const char* title) {
  std::ranges::stable_sort(totals, std::ranges::greater(), &Total::processor);
  int64_t all = 0;
  for (const Total& total : totals) all += total.processor;
  TextTable table({{title},
                   {"count", Align::kRight},
                   {"processor", Align::kRight, "processor_ms"},
                   {"share", Align::kRight},
                   {"elapsed", Align::kRight, "elapsed_ms"}});
  for (const Total& total : totals) {
    const auto time = [](int64_t nanoseconds) {
      const double milliseconds = 1e-6 * static_cast<double>(nanoseconds);
      return Cell(fmt::format("{:.1f} ms", milliseconds), milliseconds);
    };
    const double share =
        all == 0 ? 0 : static_cast<double>(total.processor) / static_cast<double>(all);
    table.AddRow({total.name, CountCell(total.count), time(total.processor),
                  Cell(fmt::format("{:.1f} %", 100 * share), share), time(total.elapsed)});
  }
  return table;
}

}  // namespace

TextTable StageTable(const std::vector<TraceSpan>& spans) {
  std::map<std::string, Total> totals;
  // The spans of a thread are in the order of their ends. So the spans inside a span precede it.
  std::map<int, std::vector<const TraceSpan*>> ended;
  for (const TraceSpan& span : spans) {
    Total& total = totals[span.stage];
    total.name = span.stage;
    ++total.count;
    Add(total, span, 1);
    std::vector<const TraceSpan*>& before = ended[span.thread];
    while (!before.empty() && before.back()->begin >= span.begin) {
      Add(total, *before.back(), -1);
      before.pop_back();
    }
    before.push_back(&span);
  }
  std::vector<Total> rows;
  for (auto& [stage, total] : totals) rows.push_back(std::move(total));
  return TableOf(std::move(rows), "stage");
}

TextTable SpanTable(const std::vector<TraceSpan>& spans, std::string_view stage) {
  std::vector<Total> rows;
  for (const TraceSpan& span : spans) {
    if (span.stage != stage) continue;
    Total& total = rows.emplace_back(Total{.name = span.detail, .count = 1});
    Add(total, span, 1);
  }
  return TableOf(std::move(rows), stage.data());
}

nlohmann::ordered_json TraceEvents(const std::vector<TraceSpan>& spans) {
  constexpr double kMicrosecond = 1e-3;
  nlohmann::ordered_json events = nlohmann::ordered_json::array();
  for (const TraceSpan& span : spans) {
    nlohmann::ordered_json event = {
        {"name", span.stage},
        {"ph", "X"},  // a complete event
        {"pid", 1},
        {"tid", span.thread},
        {"ts", kMicrosecond * static_cast<double>(span.begin)},
        {"dur", kMicrosecond * static_cast<double>(span.end - span.begin)},
        {"tdur", kMicrosecond * static_cast<double>(span.processor)}};
    if (!span.detail.empty()) event["args"] = {{"detail", span.detail}};
    events.push_back(std::move(event));
  }
  return {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
}

}  // namespace tunec
