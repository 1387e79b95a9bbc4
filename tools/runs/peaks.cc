#include "tools/runs/peaks.h"

#include <fmt/format.h>

#include <algorithm>

#include "autotune/measure/roofline.h"
#include "tools/terminal/text_table.h"

namespace tunec {

void Peaks::Add(const std::optional<KernelArithmetic>& arithmetic) {
  if (arithmetic) flops_.emplace(arithmetic->by, 0);
}

Status Peaks::Measure() {
  for (auto& [by, flops] : flops_) {
    const Result<ArithmeticCeiling> ceiling = MeasureArithmetic(target_, *by);
    if (!ceiling) {
      TUNEC_RETURN_IF_ERROR(FailIfInternal(ceiling.error()));
      continue;
    }
    flops = std::max(flops, ceiling->flops);
  }
  return {};
}

double Peaks::For(const std::optional<KernelArithmetic>& arithmetic) const {
  return arithmetic ? Of(*arithmetic->by) / arithmetic->work : 0;
}

std::string Peaks::Text() const {
  std::string text = fmt::format("FMA peak {}FLOP/s", QuantityText(Of(Float32Fma())));
  for (const auto& [by, flops] : flops_) {
    if (by == &Float32Fma()) continue;
    text += fmt::format(", {}{} {}", QuantityText(flops), RateUnit(*by), Describe(*by));
  }
  return text;
}

std::string RateUnit(const MacInstruction& by) { return IsFloat(by.operand) ? "FLOP/s" : "OP/s"; }

}  // namespace tunec
