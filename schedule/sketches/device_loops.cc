#include "schedule/sketches/device_loops.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "schedule/sketches/loop_names.h"

namespace tunec {

std::string FuseAll(const Compute& compute, const std::string& statement, const std::string& name,
                    const std::vector<std::string>& loops, Schedule& schedule) {
  std::string all = loops.front();
  for (size_t i = 1; i < loops.size(); ++i) {
    std::string fused = NewLoopName(compute, statement, fmt::format("{}{}", name, i));
    schedule.Add(FuseStep{all, loops[i], fused});
    all = std::move(fused);
  }
  return all;
}

std::string BindGrid(const Compute& compute, const std::string& statement,
                     const std::vector<std::string>& loops, Schedule& schedule) {
  constexpr std::array kAxes = {LoopKind::kGridX, LoopKind::kGridY, LoopKind::kGridZ};
  const size_t alone = std::min(loops.size(), kAxes.size() - 1);
  std::vector<std::string> chain;
  const auto middle = loops.end() - static_cast<std::ptrdiff_t>(alone);
  if (middle != loops.begin())
    chain.push_back(FuseAll(compute, statement, "blocks", {loops.begin(), middle}, schedule));
  chain.insert(chain.end(), middle, loops.end());
  for (size_t i = 0; i < chain.size(); ++i)
    schedule.Add(BindStep{chain[i], kAxes.at(chain.size() - 1 - i)});
  return chain.back();
}

}  // namespace tunec
