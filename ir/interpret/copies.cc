#include "ir/interpret/copies.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/nest/visit_loop_nest.h"

namespace tunec {
namespace {

bool SameBits(const Scalar& a, const Scalar& b) {
  return a.integer == b.integer &&
         std::bit_cast<uint64_t>(a.real) == std::bit_cast<uint64_t>(b.real);
}

}  // namespace

CopiesInFlight::CopiesInFlight(const LoopNest& nest, const Storage& storage, RaceDetector* races)
    : storage_(storage), races_(races) {
  ForEach<AsyncCopy>(nest,
                     [&](const AsyncCopy& copy) { tokens_.emplace(copy.to.tensor, copy.token); });
}

void CopiesInFlight::Arrive(int token, int64_t stage) {
  Stage& of = stages_[{token, stage}];
  ++of.arrivals;
  std::ranges::move(issued_[token], std::back_inserter(of.copies));
  issued_[token].clear();
}

Status CopiesInFlight::Wait(int token, int64_t stage, int64_t parity) {
  Stage& of = stages_[{token, stage}];
  if (of.arrivals == 0 || (of.arrivals - 1) % 2 != parity) {
    return Fail(ErrorCode::kInvalidArgument,
                "wait {}: stage {} with parity {} after {} arrivals there would not end", token,
                stage, parity, of.arrivals);
  }
  const std::vector<ElementCopy> copies = std::exchange(of.copies, {});
  for (const ElementCopy& copy : copies) TUNEC_RETURN_IF_ERROR(Complete(copy));
  return {};
}

Status CopiesInFlight::Complete(const ElementCopy& copy) {
  if (copy.from_offset >= 0) {
    const ElementBuffer& source = storage_.buffer(copy.from);
    const bool unchanged =
        source.Written(copy.from_offset) && SameBits(source.Get(copy.from_offset), copy.value);
    if (!unchanged) {
      return Fail(ErrorCode::kInvalidArgument,
                  "async_copy: {} is written between the copy's issue and its wait",
                  Element(copy.from, copy.from_offset));
    }
  }
  ElementBuffer& destination = storage_.buffer(copy.to);
  if (destination.Written(copy.to_offset)) {
    return Fail(ErrorCode::kInvalidArgument,
                "async_copy: {} is written between the copy's issue and its wait",
                Element(copy.to, copy.to_offset));
  }
  if (races_ != nullptr) {
    const RaceDetector::Thread waiting = races_->thread();
    races_->SetThread(copy.thread);
    Status read;  // the copy ends now, as far as other agents can see
    if (copy.from_offset >= 0) read = races_->Read(copy.from, copy.from_offset, *copy.name);
    const Status written = races_->Write(copy.to, copy.to_offset, *copy.name);
    races_->SetThread(waiting);
    if (!read) {
      return Fail(ErrorCode::kInvalidArgument, "{}: {}", Element(copy.from, copy.from_offset),
                  read.error().message);
    }
    if (!written) {
      return Fail(ErrorCode::kInvalidArgument, "{}: {}", Element(copy.to, copy.to_offset),
                  written.error().message);
    }
  }
  destination.Set(copy.to_offset, copy.value);
  return {};
}

void CopiesInFlight::Begin(TensorId tensor) {
  const auto [first, last] = tokens_.equal_range(tensor);
  for (auto token = first; token != last; ++token) {
    std::erase_if(stages_, [&](const auto& entry) { return entry.first.first == token->second; });
  }
}

Status CopiesInFlight::End(TensorId tensor) const {
  const auto fills = [&](const ElementCopy& copy) { return copy.to == tensor; };
  const auto pending = [&](const std::vector<ElementCopy>& copies) {
    return std::ranges::any_of(copies, fills);
  };
  const bool left =
      std::ranges::any_of(issued_, [&](const auto& entry) { return pending(entry.second); }) ||
      std::ranges::any_of(stages_, [&](const auto& entry) { return pending(entry.second.copies); });
  if (!left) return {};
  return Fail(ErrorCode::kInvalidArgument, "async_copy: nothing waits for copies into {}",
              storage_.tensor(tensor).name);
}

std::string CopiesInFlight::Element(TensorId tensor, int64_t offset) const {
  return fmt::format("{}, at {},", storage_.tensor(tensor).name, offset);
}

}  // namespace tunec
