// Asynchronous copies between their issue and their Wait. Issue marks the destination as unwritten,
// and Wait fills it. An access to the destination in between is an error, and so is a change of the
// source.
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
  /// Completes the copies of a stage. Errors: no arrival has this parity; a source or destination
  /// was touched since the issue.
  Status Wait(int token, int64_t stage, int64_t parity);
  /// Handles the begin of a storage: resets the stages of the tokens that fill the tensor.
  void Begin(TensorId tensor);
  /// Handles the end of a storage. Errors: no Wait completed a copy into the tensor.
  Status End(TensorId tensor) const;

 private:
  struct Stage {
    int64_t arrivals = 0;
    std::vector<ElementCopy> copies;  // copies of all arrivals that no Wait has completed
  };
  Status Complete(const ElementCopy& copy);
  std::string Element(TensorId tensor, int64_t offset) const;

  const Storage& storage_;
  RaceDetector* races_;
  std::multimap<TensorId, int> tokens_;  // tokens that fill a tensor
  std::map<int, std::vector<ElementCopy>> issued_;
  std::map<std::pair<int, int64_t>, Stage> stages_;
};

}  // namespace tunec
