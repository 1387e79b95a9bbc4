// A disk that fails on demand: SQLite's own file layer with writes that can be refused.
#pragma once

#include <memory>

namespace tunec {

/// While it lives, every database of this process is opened through it.
class FaultyDisk {
 public:
  FaultyDisk();
  ~FaultyDisk();
  FaultyDisk(const FaultyDisk&) = delete;
  FaultyDisk& operator=(const FaultyDisk&) = delete;

  /// After `writes` more writes, each fails with this SQLite result code.
  void FailAfter(int writes, int result_code);
  void Heal();
  /// Writes refused since FailAfter.
  int refused() const;

 private:
  struct Layer;
  std::unique_ptr<Layer> layer_;
};

}  // namespace tunec
