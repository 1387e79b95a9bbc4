#include "ir/interpret/shuffle.h"

namespace tunec {

CompiledShuffle::CompiledShuffle(const Storage& storage, const Shuffle& shuffle,
                                 BlockThread& thread)
    : variable_(shuffle.thread),
      distance_(shuffle.distance),
      thread_(thread),
      from_(storage, shuffle.from.tensor, shuffle.from.index),
      to_(storage, shuffle.to.tensor, shuffle.to.index) {}

Result<Scalar> CompiledShuffle::ReadPartner(std::span<int64_t> point) {
  TUNEC_ASSIGN(const int64_t offset, from_.Locate(point, {}));
  if (from_.buffer().Written(offset)) return from_.buffer().Get(offset);
  return Fail(ErrorCode::kInvalidArgument, "shuffle: read of {}, which nothing wrote",
              from_.Element());
}

Status CompiledShuffle::Run(std::span<int64_t> point) {
  const int64_t number = point[variable_.index()];
  const auto run_as = [&](int64_t thread) {
    point[variable_.index()] = thread;
    thread_.SetNumber(/*axis=*/0, thread);
  };
  run_as(number ^ distance_);
  const Result<Scalar> value = ReadPartner(point);
  run_as(number);
  TUNEC_RETURN_IF_ERROR(value);
  TUNEC_ASSIGN(const int64_t offset, to_.Locate(point, {}));
  to_.buffer().Set(offset, *value);
  return {};
}

}  // namespace tunec
