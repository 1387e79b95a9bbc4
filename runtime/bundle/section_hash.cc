#include "runtime/bundle/section_hash.h"

#include <algorithm>
#include <vector>

#include "support/hash.h"

namespace tunec::bundle {

uint64_t HashOf(std::span<const std::byte> bytes, ThreadPool& pool) {
  constexpr size_t kPiece = size_t{1} << 20;
  const size_t pieces = std::max<size_t>(1, (bytes.size() + kPiece - 1) / kPiece);
  std::vector<uint64_t> hashes(pieces);
  pool.ParallelFor(static_cast<int64_t>(pieces), [&](int64_t piece, int) {
    const size_t begin = static_cast<size_t>(piece) * kPiece;
    hashes[piece] = StableHash64(bytes.subspan(begin, std::min(kPiece, bytes.size() - begin)));
  });
  return StableHash64(std::as_bytes(std::span(hashes)));
}

}  // namespace tunec::bundle
