// A reader and a writer of the zip archives that .npz files are. Only numpy/ uses this file.
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
  std::span<const std::byte> packed;  // the member's bytes in the file
  uint64_t size = 0;                  // number of uncompressed bytes
};

/// Returns the members in the order of the central directory. Every size and offset is checked
/// against the file. The members together have at most as many packed bytes as the file. So all
/// unpacked bytes are at most 1032 times the file's bytes, which is deflate's greatest ratio. Fails
/// with kParse or kUnsupported; messages do not name the file.
Result<std::vector<ZipMember>> ListZip(std::span<const std::byte> file);

/// Returns the member's unpacked bytes after a check of the CRC. The bytes are in `storage`, or in
/// the file if the member is stored. Fails with kParse, or with kResourceLimit without memory.
Result<std::span<const std::byte>> UnpackMember(const ZipMember& member, Buffer& storage);

/// A writer of a zip archive with stored members. The same members give the same bytes: all times
/// are 1980-01-01.
class ZipWriter {
 public:
  /// Adds a member. `parts` are the member's bytes in order.
  void Add(const std::string& name, const std::string& comment,
           std::span<const std::span<const std::byte>> parts);
  /// Returns the archive; the writer must not be used afterwards. Fails with kUnsupported from
  /// about 4 GiB on, for more than 65534 members, or for a name of more than 65535 bytes.
  Result<std::string> Finish();

 private:
  std::string archive_;
  std::string directory_;
  uint64_t count_ = 0;
  bool too_large_ = false;
};

}  // namespace tunec
