// The exchange of records between files. ForEachLine converts a database into the lines of an
// export, and LineImporter stores such lines in a database. Export uses the former, import the
// latter, and merge uses both.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "db/records.h"
#include "db/sqlite/connection.h"
#include "db/tables/codec.h"
#include "support/error.h"

namespace tunec {

/// Calls `visit` with the lines of an export, in an order that depends only on the data. Skips
/// artifacts and damaged facts, trials and charges. Returns kParse for a damaged target or task.
/// Stops at the first error of `visit` and returns it. Requires: called inside Read or Write.
Status ForEachLine(DatabaseConnection& connection,
                   const std::function<Status(const ExchangeLine&)>& visit);

class LineImporter {
 public:
  LineImporter(DatabaseConnection& connection, TimesFrom times)
      : connection_(connection), times_(times) {}

  /// Stores one line. Returns kParse for an undefined id, a negative charge or a line before the
  /// header, kInvalidArgument for another value that cannot be stored, kUnsupported for an unknown
  /// version. Requires: called inside Write.
  Status Take(const ExchangeLine& line);
  const ExchangeCounts& counts() const { return counts_; }

 private:
  using Ids = std::map<int64_t, int64_t>;  // the row's id for each id of the export

  Status TakeLine(const HeaderLine& line);
  Status TakeLine(const TargetLine& line);
  Status TakeLine(const FactLine& line);
  Status TakeLine(const WorkloadLine& line);
  Status TakeLine(const TaskLine& line);
  Status TakeLine(const TrialLine& line);
  Status TakeLine(const ChargeLine& line);
  void TakeChoice(int64_t task, const TrialRecord& trial);
  void Count(RecordOutcome outcome);

  DatabaseConnection& connection_;
  TimesFrom times_;
  int64_t version_ = 0;  // version of the export; 0 before its header
  Ids targets_;
  Ids workloads_;
  Ids tasks_;
  std::map<int64_t, std::string> workload_texts_;
  /// Workload texts of the tasks whose schedules are converted from version 1 of the schedule
  /// language, by the task's id in the export.
  std::map<int64_t, std::string> older_;
  ExchangeCounts counts_;
};

}  // namespace tunec
