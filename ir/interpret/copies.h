// Asynchronous copies between their issue and their Wait. A destination is poisoned from the issue
// on, and filled by the Wait; whoever touches it in between, or changes the source, is found out.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "ir/interpret/assignment.h"
#include "ir/interpret/races.h"
#include "ir/interpret/storage.h"

namespace tunec {

class CopiesInFlight {
 public:
  CopiesInFlight(const LoopNest& nest, const Storage& storage, RaceDetector* races);

  void Issue(int token, const ElementCopy& copy) { issued_[token].push_back(copy); }
  void Arrive(int token, int64_t stage);
  /// Errors: nothing arrived with that parity, a source or destination was touched meanwhile.
  Status Wait(int token, int64_t stage, int64_t parity);
  /// Storage begins: the stages of the tokens that fill it count anew.
  void Begin(TensorId tensor);
  /// Storage ends. Errors: a copy into it was never waited for.
  Status End(TensorId tensor) const;

 private:
  struct Stage {
    int64_t arrivals = 0;
    std::vector<ElementCopy> copies;  // of all arrivals that nobody waited for
  };
  Status Complete(const ElementCopy& copy);
  std::string Element(TensorId tensor, int64_t offset) const;

  const Storage& storage_;
  RaceDetector* races_;
  std::multimap<TensorId, int> tokens_;  // that fill a tensor
  std::map<int, std::vector<ElementCopy>> issued_;
  std::map<std::pair<int, int64_t>, Stage> stages_;
};

}  // namespace tunec
