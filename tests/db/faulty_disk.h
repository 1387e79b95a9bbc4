// A disk that fails on demand: SQLite's own file layer with writes that can be rejected.
#pragma once

#include <memory>

namespace tunec {

/// A faulty disk. While the object exists, every database of this process is opened through it.
class FaultyDisk {
 public:
  FaultyDisk();
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  /// Makes each write fail with this SQLite result code after `writes` more writes.
  void FailAfter(int writes, int result_code);
  void Heal();
  /// Returns the number of writes rejected since FailAfter.
  int rejected() const;

 private:
  struct Layer;
  std::unique_ptr<Layer> layer_;
};

}  // namespace tunec
