// Lists and types in bytes, for what several sections hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ir/data_type.h"
#include "runtime/bundle/byte_stream.h"

namespace tunec::bundle {

/// How many there are, then each by `write`.
template <class Things, class WriteOne>
void WriteAll(ByteWriter& out, const Things& things, WriteOne write) {
  out.Count(things.size());
  for (const auto& thing : things) write(out, thing);
}

/// What WriteAll wrote, of things that take at least so many bytes each.
template <class ReadOne>
auto ReadAll(ByteReader& in, size_t least_bytes, ReadOne read) {
  std::vector<decltype(read(in))> things;
  const size_t count = in.Count(least_bytes);
  for (size_t i = 0; i < count && in.ok(); ++i) things.push_back(read(in));
  return things;
}

/// A byte that is one of the types.
inline DataType ReadType(ByteReader& in) {
  const auto type = static_cast<DataType>(in.Byte());
  if (type <= DataType::kBool) return type;
  in.Refuse();
  return DataType::kF32;
}

}  // namespace tunec::bundle
