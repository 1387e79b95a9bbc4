// Tables of measured times. A table has candidates of one group's search space, each timed in turns
// with a fixed kernel. Searches are simulated on tables (simulate.h).
// docs/reference/tuning.md describes the file.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "db/records.h"
#include "schedule/sketch.h"
#include "support/error.h"

namespace tunec {

/// A measured candidate. Ratio and spread are valid if the status is ok.
struct TableEntry {
  int sketch = 0;  // position in TimeTable::sketches
  Decisions decisions;
  TrialStatus status = TrialStatus::kOk;
  double ratio = 0;   // time over the time of the fixed kernel
  double spread = 0;  // median absolute deviation of the samples over their median
  bool operator==(const TableEntry&) const = default;
};

struct TableSketch {
  std::string name;  // with the lowering: "direct/tile/j"
  std::vector<Knob> knobs;
};

struct TimeTable {
  std::string workload;     // hash of the workload's text
  std::string description;  // one line for people
  std::string target;       // target of the tuning key
  int fixed_sketch = 0;     // sketch whose analytic schedule is the fixed kernel
  double fixed_seconds = 0;
  std::vector<TableSketch> sketches;  // the naive one is last
  std::vector<TableEntry> entries;
};

/// Returns the text of a table as JSON lines: a header, a line per sketch, a line per entry.
std::string Print(const TimeTable& table);
/// Parses the text of Print. Checks all numbers, and that every sketch has an entry and some entry
/// is ok. Fails with kParse, or kUnsupported for another version, at `name` and the line.
Result<TimeTable> ParseTimeTable(std::string_view text, const std::string& name);

/// Returns the entry of the sketch with the least distance to `decisions`, the first one in the
/// table among equal distances. The distance is the sum over the knobs of the difference of
/// positions, relative to the knob's largest difference. Requires: the sketch has an entry.
const TableEntry& NearestEntry(const TimeTable& table, int sketch, const Decisions& decisions);

}  // namespace tunec
