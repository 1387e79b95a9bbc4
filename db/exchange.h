// Moving records between files: ForEachLine takes a database apart into the lines of an
// export, LineTaker puts such lines into another. Import, export and merge are these two.
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

/// Everything but artifacts, in an order that depends on the data alone. Stops at the first
/// error of `visit` and returns it. Only inside Read and Write.
Status ForEachLine(DatabaseConnection& connection,
                   const std::function<Status(const ExchangeLine&)>& visit);

class LineTaker {
 public:
  explicit LineTaker(DatabaseConnection& connection) : connection_(connection) {}

  /// Only inside Write. kParse or kInvalidArgument for a line that does not fit the earlier ones.
  Status Take(const ExchangeLine& line);
  const ExchangeCounts& counts() const { return counts_; }

 private:
  using Ids = std::map<int64_t, int64_t>;  // of the file -> of our rows

  Status TakeLine(const HeaderLine& line);
  Status TakeLine(const TargetLine& line);
  Status TakeLine(const FactLine& line);
  Status TakeLine(const WorkloadLine& line);
  Status TakeLine(const TaskLine& line);
  Status TakeLine(const TrialLine& line);
  Status TakeLine(const ChargeLine& line);
  void Count(RecordOutcome outcome);

  DatabaseConnection& connection_;
  int64_t version_ = 0;  // of the export that is read; 0 before its header
  Ids targets_;
  Ids workloads_;
  Ids tasks_;
  std::map<int64_t, std::string> workload_texts_;
  /// The texts of the workloads of tasks whose schedules are of version 1 of their language.
  std::map<int64_t, std::string> older_;
  ExchangeCounts counts_;
};

}  // namespace tunec
