// A value within the storage of another.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace tunec {

/// A value without storage of its own: its elements lie within the storage of another, written
/// there by its producer or, if that is one of the plan's view nodes, by whoever fills the owner.
struct StorageView {
  ValueId value;
  ValueId owner;       // has storage of its own
  int64_t offset = 0;  // elements into the owner's storage
  Layout layout;       // of the value, from there on
  bool operator==(const StorageView&) const = default;
};

}  // namespace tunec
