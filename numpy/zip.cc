// The format is PKWARE's APPNOTE 6.3: local headers with data, then the central directory, then its
// end record. zip64 extensions hold sizes and offsets that do not fit in 32 bits. Names and sizes
// of members are read only from the central directory.
#include "numpy/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <string_view>

namespace tunec {
namespace {

using Bytes = std::span<const std::byte>;

constexpr uint32_t kLocalMagic = 0x04034b50;
constexpr uint32_t kCentralMagic = 0x02014b50;
constexpr uint32_t kEndMagic = 0x06054b50;
constexpr uint32_t kEnd64Magic = 0x06064b50;
constexpr uint32_t kLocator64Magic = 0x07064b50;
constexpr size_t kLocalSize = 30;
constexpr size_t kCentralSize = 46;
constexpr size_t kEndSize = 22;
constexpr size_t kLocator64Size = 20;
constexpr size_t kEnd64Size = 56;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
constexpr uint16_t kEncryptedFlag = 1;
constexpr uint16_t kUtf8Flag = 1 << 11;
constexpr uint16_t kZip64Extra = 1;
constexpr uint32_t kIn64 = 0xffffffff;  // the true value is in a zip64 field
// The greatest ratio of unpacked to packed bytes: deflate's densest code gives 258 bytes for 2
// bits.
constexpr uint64_t kDeflateRatio = 1032;

template <class... Args>
std::unexpected<Error> Bad(fmt::format_string<Args...> format, Args&&... args) {
  return Fail(ErrorCode::kParse, format, std::forward<Args>(args)...);
}

// Loads a little-endian number, which must be within `bytes`. tunec runs only on little-endian
// machines.
template <class T>
T Load(Bytes bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::string_view AsText(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool Inside(Bytes file, uint64_t offset, uint64_t size) {
  return offset <= file.size() && size <= file.size() - offset;
}

struct Directory {
  Bytes bytes;
  uint64_t count = 0;
};

// Finds the central directory by the zip64 end record. The locator of this record is directly
// before the ordinary end record at `end`.
Result<Directory> FindDirectory64(Bytes file, size_t end) {
  if (end < kLocator64Size || Load<uint32_t>(file, end - kLocator64Size) != kLocator64Magic)
    return Bad("zip64 locator is missing");
  const auto offset = Load<uint64_t>(file, end - kLocator64Size + 8);
  if (!Inside(file, offset, kEnd64Size) || Load<uint32_t>(file, offset) != kEnd64Magic)
    return Bad("zip64 end record is missing at {}", offset);
  const auto size = Load<uint64_t>(file, offset + 40);
  const auto start = Load<uint64_t>(file, offset + 48);
  if (!Inside(file, start, size)) return Bad("central directory lies outside the file");
  return Directory{file.subspan(start, size), Load<uint64_t>(file, offset + 32)};
}

Result<Directory> FindDirectory(Bytes file) {
  if (file.size() < kEndSize) return Bad("not a zip file: only {} bytes", file.size());
  // The end record is the last record, before a comment of up to 65535 bytes.
  const size_t last = file.size() - kEndSize;
  const size_t first = last - std::min<size_t>(last, 0xffff);
  size_t end = last;
  while (Load<uint32_t>(file, end) != kEndMagic) {
    if (end == first) return Bad("not a zip file: no end record");
    --end;
  }
  const auto count = Load<uint16_t>(file, end + 10);
  const auto size = Load<uint32_t>(file, end + 12);
  const auto start = Load<uint32_t>(file, end + 16);
  if (count == 0xffff || size == kIn64 || start == kIn64) return FindDirectory64(file, end);
  if (!Inside(file, start, size)) return Bad("central directory lies outside the file");
  return Directory{file.subspan(start, size), count};
}

struct Sizes {
  uint64_t size;
  uint64_t packed;
  uint64_t offset;
};

// Replaces each of `size`, `packed` and `offset` that did not fit in 32 bits by its field in the
// zip64 extra. Only these values have a field, in this order. Returns false if a field is missing
// or the extra is damaged.
bool ReadZip64(Bytes extra, Sizes& sizes) {
  const auto is_in_extra = [](uint64_t value) { return value == kIn64; };
  if (!is_in_extra(sizes.size) && !is_in_extra(sizes.packed) && !is_in_extra(sizes.offset))
    return true;
  while (extra.size() >= 4) {
    const auto id = Load<uint16_t>(extra, 0);
    const size_t length = Load<uint16_t>(extra, 2);
    if (length > extra.size() - 4) return false;
    Bytes field = extra.subspan(4, length);
    extra = extra.subspan(4 + length);
    if (id != kZip64Extra) continue;
    for (uint64_t* value : {&sizes.size, &sizes.packed, &sizes.offset}) {
      if (!is_in_extra(*value)) continue;
      if (field.size() < 8) return false;
      *value = Load<uint64_t>(field, 0);
      field = field.subspan(8);
    }
    return true;
  }
  return false;
}

Result<Bytes> FindData(Bytes file, const std::string& name, const Sizes& sizes) {
  if (!Inside(file, sizes.offset, kLocalSize) || Load<uint32_t>(file, sizes.offset) != kLocalMagic)
    return Bad("member '{}' has no header at {}", name, sizes.offset);
  const uint64_t start = sizes.offset + kLocalSize + Load<uint16_t>(file, sizes.offset + 26) +
                         Load<uint16_t>(file, sizes.offset + 28);
  if (!Inside(file, start, sizes.packed))
    return Bad("member '{}' of {} bytes at {} lies outside the file", name, sizes.packed, start);
  return file.subspan(start, sizes.packed);
}

// Removes the entry at the front of `directory` and returns its member.
Result<ZipMember> TakeEntry(Bytes file, Bytes& directory) {
  if (directory.size() < kCentralSize || Load<uint32_t>(directory, 0) != kCentralMagic)
    return Bad("central directory is damaged");
  const size_t name = Load<uint16_t>(directory, 28);
  const size_t extra = Load<uint16_t>(directory, 30);
  const size_t comment = Load<uint16_t>(directory, 32);
  if (name + extra + comment > directory.size() - kCentralSize)
    return Bad("central directory is damaged");
  ZipMember member;
  member.name = AsText(directory.subspan(kCentralSize, name));
  member.comment = AsText(directory.subspan(kCentralSize + name + extra, comment));
  member.method = Load<uint16_t>(directory, 10);
  member.crc = Load<uint32_t>(directory, 16);
  Sizes sizes{Load<uint32_t>(directory, 24), Load<uint32_t>(directory, 20),
              Load<uint32_t>(directory, 42)};
  if (Load<uint16_t>(directory, 8) & kEncryptedFlag)
    return Fail(ErrorCode::kUnsupported, "member '{}' is encrypted", member.name);
  if (!ReadZip64(directory.subspan(kCentralSize + name, extra), sizes))
    return Bad("member '{}' lacks its zip64 sizes", member.name);
  member.size = sizes.size;
  TUNEC_ASSIGN(member.packed, FindData(file, member.name, sizes));
  directory = directory.subspan(kCentralSize + name + extra + comment);
  return member;
}

Status CheckSizes(const ZipMember& member) {
  const uint64_t packed = member.packed.size();
  if (member.method != kStored && member.method != kDeflated)
    return Fail(ErrorCode::kUnsupported, "member '{}' is compressed by method {}, expected 0 or 8",
                member.name, member.method);
  const bool possible =
      member.method == kStored ? member.size == packed : member.size <= packed * kDeflateRatio;
  if (!possible)
    return Bad("member '{}' claims {} bytes in {} packed ones", member.name, member.size, packed);
  return {};
}

// Inflates `packed` into `out`. Returns whether the result fills `out` exactly.
bool Inflate(Bytes packed, std::span<std::byte> out) {
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
  constexpr size_t kStep = size_t{1} << 30;  // zlib counts in 32 bits
  int state = Z_OK;
  size_t in_done = 0;
  size_t out_done = 0;
  while (state == Z_OK) {
    const size_t in_step = std::min(kStep, packed.size() - in_done);
    const size_t out_step = std::min(kStep, out.size() - out_done);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(packed.data() + in_done));
    stream.avail_in = static_cast<uInt>(in_step);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + out_done);
    stream.avail_out = static_cast<uInt>(out_step);
    state = inflate(&stream, Z_NO_FLUSH);  // Z_BUF_ERROR: no progress
    in_done += in_step - stream.avail_in;
    out_done += out_step - stream.avail_out;
  }
  inflateEnd(&stream);
  return state == Z_STREAM_END && out_done == out.size();
}

uint32_t Crc(uint32_t crc, Bytes bytes) {
  return static_cast<uint32_t>(
      crc32_z(crc, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void Put16(std::string& out, uint64_t value) {
  out.push_back(static_cast<char>(value));
  out.push_back(static_cast<char>(value >> 8));
}
void Put32(std::string& out, uint64_t value) {
  Put16(out, value & 0xffff);
  Put16(out, value >> 16 & 0xffff);
}

}  // namespace

Result<std::vector<ZipMember>> ListZip(Bytes file) {
  TUNEC_ASSIGN(Directory directory, FindDirectory(file));
  std::vector<ZipMember> members;
  uint64_t packed = 0;
  for (uint64_t i = 0; i < directory.count; ++i) {
    TUNEC_ASSIGN(ZipMember member, TakeEntry(file, directory.bytes));
    TUNEC_RETURN_IF_ERROR(CheckSizes(member));
    packed += member.packed.size();
    if (packed > file.size()) return Bad("members overlap, from '{}' on", member.name);
    members.push_back(std::move(member));
  }
  return members;
}

Result<Bytes> UnpackMember(const ZipMember& member, Buffer& storage) {
  Bytes bytes = member.packed;
  if (member.method == kDeflated) {
    TUNEC_ASSIGN(storage, Buffer::Allocate(member.size));
    // zlib requires an address even for no bytes.
    std::byte none{};
    std::byte* out = member.size == 0 ? &none : storage.data();
    if (!Inflate(member.packed, {out, static_cast<size_t>(member.size)}))
      return Bad("member '{}' is damaged: it does not inflate to {} bytes", member.name,
                 member.size);
    bytes = {storage.data(), storage.size()};
  }
  if (Crc(0, bytes) != member.crc)
    return Bad("member '{}' is damaged: wrong checksum", member.name);
  return bytes;
}

void ZipWriter::Add(const std::string& name, const std::string& comment,
                    std::span<const Bytes> parts) {
  uint64_t size = 0;
  uint32_t crc = 0;
  for (const Bytes part : parts) {
    if (!part.empty()) crc = Crc(crc, part);
    size += part.size();
  }
  // The fields that the local header and the directory share.
  std::string common;
  Put16(common, 20);  // version 2.0 is needed to unpack
  Put16(common, kUtf8Flag);
  Put16(common, kStored);
  Put32(common, 0x00210000);  // 1980-01-01 00:00
  Put32(common, crc);
  Put32(common, size);
  Put32(common, size);
  Put16(common, name.size());
  Put16(common, 0);  // no extra field

  Put32(directory_, kCentralMagic);
  Put16(directory_, 20);  // made by version 2.0
  directory_ += common;
  Put16(directory_, comment.size());
  Put32(directory_, 0);  // disk, internal attributes
  Put32(directory_, 0);  // external attributes
  Put32(directory_, archive_.size());
  directory_ += name + comment;

  Put32(archive_, kLocalMagic);
  archive_ += common + name;
  for (const Bytes part : parts) archive_ += AsText(part);
  constexpr uint64_t kLimit16 = std::numeric_limits<uint16_t>::max();
  ++count_;
  too_large_ =
      too_large_ || archive_.size() >= kIn64 || name.size() > kLimit16 || count_ >= kLimit16;
}

Result<std::string> ZipWriter::Finish() {
  if (too_large_ || archive_.size() + directory_.size() >= kIn64)
    return Fail(ErrorCode::kUnsupported, "more than 4 GiB or 65534 members in one zip file");
  const uint64_t start = archive_.size();
  archive_ += directory_;
  Put32(archive_, kEndMagic);
  Put32(archive_, 0);  // one disk
  Put16(archive_, count_);
  Put16(archive_, count_);
  Put32(archive_, directory_.size());
  Put32(archive_, start);
  Put16(archive_, 0);  // no comment
  return std::move(archive_);
}

}  // namespace tunec
