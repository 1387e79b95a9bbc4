// Functions that write and read lists and read element types, for several sections of a bundle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/data_type.h"
#include "runtime/bundle/byte_stream.h"

namespace tunec::bundle {

/// Writes the number of elements, then each element by `write`.
template <class Things, class WriteOne>
void WriteAll(ByteWriter& out, const Things& things, WriteOne write) {
  out.Count(things.size());
  for (const auto& thing : things) write(out, thing);
}

/// Reads what WriteAll wrote, each element by `read`. An element takes at least `least_bytes`
/// bytes.
template <class ReadOne>
auto ReadAll(ByteReader& in, size_t least_bytes, ReadOne read) {
  std::vector<decltype(read(in))> things;
  const size_t count = in.Count(least_bytes);
  for (size_t i = 0; i < count && in.ok(); ++i) things.push_back(read(in));
  return things;
}

/// Reads an element type. Rejects an invalid one.
inline DataType ReadType(ByteReader& in) { return in.Choice(DataType::kBool); }

}  // namespace tunec::bundle
