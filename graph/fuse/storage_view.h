// A value within the storage of another value.
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace tunec {

/// A value without separate storage: its elements are part of the owner's storage. The value's
/// producer writes these elements, unless the producer is a view node, which has no kernel.
struct StorageView {
  ValueId value;
  ValueId owner;       // has separate storage
  int64_t offset = 0;  // elements from the start of the owner's storage
  Layout layout;       // layout of the value, from the offset on
  bool operator==(const StorageView&) const = default;
};

}  // namespace tunec
