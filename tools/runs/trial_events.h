// The file of the option --events: one JSON object per line for each trial of a tuning.
#pragma once

#include <fstream>
#include <memory>
#include <string>

#include "autotune/tuner.h"
#include "support/error.h"

namespace tunec {

class TrialEvents {
 public:
  /// Opens the file, and removes its contents. Fails with kIo.
  static Result<std::unique_ptr<TrialEvents>> Open(const std::string& path);

  /// Writes a line if the progress has a new trial. The line is complete in the file afterwards, so
  /// another process may read it.
  void Note(const TuneProgress& progress);
  /// Checks that all lines were written. Fails with kIo.
  Status Finish();

 private:
  explicit TrialEvents(std::string path) : path_(std::move(path)), file_(path_) {}

  std::string path_;
  std::ofstream file_;
};

}  // namespace tunec
