// A simulated disk for SQLite. It uses SQLite's own file layer, but can make writes fail.
#pragma once

#include <memory>

namespace tunec {

/// A simulated disk whose writes can fail. While the object exists, this process opens all database
/// files through it. Only one object may exist at a time.
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
