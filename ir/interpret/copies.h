// Asynchronous copies between their issue and their Wait. BeginCopy (assignment.h) marks the
// destination as unwritten, and Wait fills it. Between the two, an access to the destination and a
// change of the source are errors.
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
  /// Completes the copies that arrived at a stage since its last Wait. Fails if the stage has no
  /// arrival, or if its last arrival has another parity. Also fails if a source was changed or a
  /// destination was written since the issue, and for a race.
  Status Wait(int token, int64_t stage, int64_t parity);
  /// Starts the lifetime of a tensor's storage (at its Alloc). Resets the stages of the tokens
  /// whose copies fill the tensor.
  void Begin(TensorId tensor);
  /// Checks at the end of a tensor's Alloc that Waits completed all copies into the tensor.
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
  std::multimap<TensorId, int> tokens_;  // tokens of the copies that fill a tensor
  std::map<int, std::vector<ElementCopy>> issued_;
  std::map<std::pair<int, int64_t>, Stage> stages_;
};

}  // namespace tunec
