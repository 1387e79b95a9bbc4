#include "jit/cuda/emulate/warp_operation.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "ir/array.h"
#include "ir/loop_nest.h"
#include "support/check.h"

namespace tunec {
namespace {

constexpr int64_t kRegisterBytes = 4;
constexpr int32_t kRows = 8;  // rows and columns of a matrix

// Returns the bits of an element of a lane's fragment. `size` is the size of an element in bytes. A
// register has consecutive elements, the first one in its low bits.
uint32_t BitsOf(const uint32_t* registers, int64_t element, int64_t size) {
  const int64_t group = kRegisterBytes / size;
  const uint32_t bits = registers[element / group] >> (8 * size * (element % group));
  return size == kRegisterBytes ? bits : bits & ((1U << (8 * size)) - 1);
}

Scalar FromBits(uint32_t bits, DataType type) {
  switch (type) {
    case DataType::kF32:
      return Scalar::Real(std::bit_cast<float>(bits));
    case DataType::kBF16:
      return Scalar::Real(std::bit_cast<float>(bits << 16));
    case DataType::kF16:
      return Scalar::Real(HalfToFloat(static_cast<uint16_t>(bits)));
    case DataType::kI8:
      return Scalar::Integer(static_cast<int8_t>(bits));
    case DataType::kI32:
      return Scalar::Integer(static_cast<int32_t>(bits));
    default:
      break;
  }
  TUNEC_UNREACHABLE("a type that no fragment has");
}

uint32_t ToBits(const Scalar& value, DataType type) {
  return type == DataType::kF32 ? std::bit_cast<uint32_t>(static_cast<float>(value.real))
                                : static_cast<uint32_t>(value.integer);
}

// A matrix that is distributed over the registers of a warp.
class Fragments {
 public:
  // `first` is the number of this operand's first register in each lane.
  Fragments(const TileOperand& operand, int64_t rows, int64_t columns, int64_t first)
      : type_(operand.type),
        columns_(columns),
        first_(first),
        owners_(OwnersOf(*operand.owners, rows, columns)) {}

  Scalar Get(std::span<const LaneRegisters> lanes, int64_t row, int64_t column) const {
    const Owner& owner = At(row, column);
    const uint32_t* registers = lanes[static_cast<size_t>(owner.lane)] + first_;
    return FromBits(BitsOf(registers, owner.element, static_cast<int64_t>(SizeOf(type_))), type_);
  }

  const Owner& At(int64_t row, int64_t column) const {
    const Owner& owner = owners_[static_cast<size_t>(row * columns_ + column)];
    TUNEC_CHECK(owner.lane >= 0, "no lane has element ({}, {})", row, column);
    return owner;
  }

 private:
  const DataType type_;
  const int64_t columns_;
  const int64_t first_;
  const std::vector<Owner> owners_;
};

int64_t RegistersOf(const TileOperand& operand) {
  return ElementsOfLane(*operand.owners) * static_cast<int64_t>(SizeOf(operand.type)) /
         kRegisterBytes;
}

}  // namespace

void MatrixLoad::Run(std::span<const LaneRegisters> lanes) const {
  std::array<std::array<std::array<uint16_t, kRows>, kRows>, 4> matrices = {};
  for (int32_t m = 0; m < matrices_; ++m) {
    for (int32_t row = 0; row < kRows; ++row) {
      const int32_t lane = kRows * m + row;
      std::memcpy(matrices.at(m).at(row).data(), lanes[static_cast<size_t>(lane)],
                  sizeof(uint16_t) * kRows);
    }
  }
  for (int32_t lane = 0; lane < kWarpThreads; ++lane) {
    for (int32_t m = 0; m < matrices_; ++m) {
      uint32_t bits = 0;
      for (int32_t i = 0; i < 2; ++i) {
        const int32_t across = lane / 4;
        const int32_t along = 2 * (lane % 4) + i;
        const auto& matrix = matrices.at(m);
        const uint16_t element =
            transposed_ ? matrix.at(along).at(across) : matrix.at(across).at(along);
        bits |= static_cast<uint32_t>(element) << (16 * i);
      }
      lanes[static_cast<size_t>(lane)][m] = bits;
    }
  }
}

void TileProduct::Run(std::span<const LaneRegisters> lanes) const {
  const int64_t rows = intrinsic_.Extent(TileAxis::kRow);
  const int64_t reduced = intrinsic_.Extent(TileAxis::kReduced);
  const int64_t columns = intrinsic_.Extent(TileAxis::kColumn);
  const int64_t right_first = RegistersOf(intrinsic_.left);
  const int64_t first = right_first + RegistersOf(intrinsic_.right);
  const Fragments left(intrinsic_.left, rows, reduced, 0);
  const Fragments right(intrinsic_.right, reduced, columns, right_first);
  const Fragments sums(intrinsic_.accumulator, rows, columns, first);
  std::vector<std::array<uint32_t, 4>> results(kWarpThreads);
  std::vector<Scalar> a(static_cast<size_t>(reduced));
  std::vector<Scalar> b(static_cast<size_t>(reduced));
  for (int64_t row = 0; row < rows; ++row) {
    for (int64_t k = 0; k < reduced; ++k) a[static_cast<size_t>(k)] = left.Get(lanes, row, k);
    for (int64_t column = 0; column < columns; ++column) {
      for (int64_t k = 0; k < reduced; ++k) b[static_cast<size_t>(k)] = right.Get(lanes, k, column);
      const Owner& owner = sums.At(row, column);
      results[static_cast<size_t>(owner.lane)].at(static_cast<size_t>(owner.element)) = ToBits(
          intrinsic_.meaning(sums.Get(lanes, row, column), a, b), intrinsic_.accumulator.type);
    }
  }
  for (size_t lane = 0; lane < lanes.size(); ++lane) std::ranges::copy(results[lane], lanes[lane]);
}

void RegisterShuffle::Run(std::span<const LaneRegisters> lanes) const {
  std::vector<uint32_t> values;
  for (const LaneRegisters lane : lanes) values.push_back(lane[0]);
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    const size_t partner = lane ^ distance_;
    TUNEC_CHECK(partner < values.size(), "lane {} reads lane {}, the warp has {}", lane, partner,
                values.size());
    lanes[lane][0] = values[partner];
  }
}

std::string NameOfStop(const ThreadStop& stop) {
  if (stop.ended) return "its end";
  return fmt::format("{} {}", stop.operation == nullptr ? "barrier" : stop.operation->name(),
                     stop.site);
}

std::string DescribeDivergence(std::span<const ThreadStop> lanes) {
  const auto is_out = [](const ThreadStop& lane) { return lane.operation == nullptr; };
  if (std::ranges::all_of(lanes, is_out)) return {};
  const ThreadStop& first = lanes.front();
  const auto all = static_cast<uint32_t>((uint64_t{1} << lanes.size()) - 1);
  for (size_t lane = 0; lane < lanes.size(); ++lane) {
    const ThreadStop& other = lanes[lane];
    if (is_out(other) || is_out(first) || other.site != first.site) {
      return fmt::format(
          "lane {} is at {}, but lane 0 at {}: all lanes of a warp must come together", lane,
          NameOfStop(other), NameOfStop(first));
    }
    if (const uint32_t members = other.operation->members(); members != all) {
      return fmt::format("lane {} waits for the lanes {:#x} at {}, the warp has {:#x}", lane,
                         members, NameOfStop(other), all);
    }
  }
  return {};
}

void LoadEmulatedMatrices(EmulatedThread* thread, int32_t site, int32_t matrices,
                          int32_t transposed, const void* address, uint32_t* registers) {
  TUNEC_CHECK(reinterpret_cast<uintptr_t>(address) % 16 == 0,
              "block {}, thread {}: a matrix's row at {}, expected a multiple of 16", thread->block,
              thread->order, address);
  thread->meet(thread, site, MatrixLoad(matrices, transposed != 0), registers);
}

void RunEmulatedTile(EmulatedThread* thread, int32_t site, int32_t tile, uint32_t* registers) {
  thread->meet(thread, site, TileProduct(TileIntrinsics()[static_cast<size_t>(tile)]), registers);
}

void ShuffleEmulated(EmulatedThread* thread, int32_t site, uint32_t members, uint32_t distance,
                     uint32_t* registers) {
  thread->meet(thread, site, RegisterShuffle(members, distance), registers);
}

}  // namespace tunec
