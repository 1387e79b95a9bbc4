#include "runtime/bundle/variant_head.h"

#include "runtime/bundle/byte_stream.h"

namespace tunec::bundle {

std::string Serialize(const VariantHead& head) {
  ByteWriter out;
  out.Text(head.cpu);
  out.Count(head.features.size());
  for (const std::string& feature : head.features) out.Text(feature);
  out.Text(head.device);
  out.Text(head.arch);
  return out.bytes();
}

Result<VariantHead> ParseHead(std::span<const std::byte> bytes) {
  ByteReader in(bytes);
  VariantHead head{.cpu = in.Text()};
  const size_t features = in.Count(sizeof(int64_t));
  for (size_t i = 0; i < features && in.ok(); ++i) head.features.push_back(in.Text());
  head.device = in.Text();
  head.arch = in.Text();
  if (!in.done()) return Fail(ErrorCode::kParse, "the bundle's list of variants is damaged");
  return head;
}

}  // namespace tunec::bundle
