#include "runtime/bundle/device_code.h"

#include "runtime/bundle/byte_stream.h"

namespace tunec::bundle {

std::string Serialize(const DeviceCodeTable& code) {
  ByteWriter out;
  out.Text(Serialize(code.kernels));
  for (const int64_t image : code.image_of) out.Number(image);
  out.Count(code.images.size());
  for (const KernelImage& image : code.images) out.Text(Serialize(image));
  return out.bytes();
}

Result<DeviceCodeTable> ParseDeviceCode(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  const std::string table = in.Bytes();
  DeviceCodeTable code;
  TUNEC_ASSIGN(code.kernels, ParseCodeTable(std::as_bytes(std::span(table))));
  for (size_t i = 0; i < code.kernels.size(); ++i) code.image_of.push_back(in.Size());
  const size_t images = in.Count(sizeof(int64_t));
  for (size_t i = 0; i < images && in.ok(); ++i) {
    TUNEC_ASSIGN(code.images.emplace_back(), ParseKernelImage(in.Bytes()));
  }
  for (size_t i = 0; i < code.kernels.size(); ++i)
    if (static_cast<uint64_t>(code.image_of[i]) >= images || !code.kernels[i].phases.empty())
      in.Reject();
  if (!in.done()) return Fail(ErrorCode::kParse, "the bundle's code for a device is damaged");
  return code;
}

}  // namespace tunec::bundle
