// Private to runtime/: the zip container, as far as .npz files use it.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "runtime/buffer.h"
#include "support/error.h"

namespace tunec {

struct ZipMember {
  std::string name;
  std::string comment;
  uint16_t method = 0;                // 0 stored, 8 deflated
  uint32_t crc = 0;                   // CRC-32 of the uncompressed bytes
  std::span<const std::byte> packed;  // in the file
  uint64_t size = 0;                  // uncompressed
};

/// The members in the order of the central directory. Every size and offset is checked against the
/// file, and all members together occupy no more than the file, so what they unpack to is bounded
/// by deflate's greatest ratio. kParse, kUnsupported; messages name the member, not the file.
Result<std::vector<ZipMember>> ListZip(std::span<const std::byte> file);

/// The member's bytes, CRC checked. `storage` receives what had to be unpacked; a stored member's
/// bytes are those in the file.
Result<std::span<const std::byte>> UnpackMember(const ZipMember& member, Buffer& storage);

/// A zip archive of stored members under construction. The same members give the same bytes: times
/// are 1980-01-01.
class ZipWriter {
 public:
  /// `parts` are the member's bytes in pieces.
  void Add(const std::string& name, const std::string& comment,
           std::span<const std::span<const std::byte>> parts);
  /// The archive; the writer is used up. kUnsupported where it would exceed 4 GiB or 65534 members.
  Result<std::string> Finish();

 private:
  std::string archive_;
  std::string directory_;
  uint64_t count_ = 0;
  bool too_large_ = false;
};

}  // namespace tunec
