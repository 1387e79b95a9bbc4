#include "tools/draw/schedule_picture.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <map>
#include <optional>

#include "polyhedral/explain/picture.h"
#include "polyhedral/schedule_tree.h"
#include "support/file.h"
#include "tools/draw/draw_iterations.h"
#include "tools/options/model_options.h"
#include "tools/terminal/report_error.h"

namespace tunec {
namespace {

constexpr int64_t kUsualSize = 24;

using IteratorValues = std::map<std::string, int64_t>;

Result<IteratorValues> ParseIteratorValues(const std::vector<std::string>& texts) {
  IteratorValues values;
  for (const std::string& text : texts) {
    const size_t equals = text.find('=');
    int64_t value = 0;
    const char* end = text.data() + text.size();
    const char* begin = equals == std::string::npos ? end : text.data() + equals + 1;
    const auto [stop, error] = std::from_chars(begin, end, value);
    if (error != std::errc() || stop != end) {
      return Fail(ErrorCode::kInvalidArgument, "--at {}: expected ITERATOR=VALUE", text);
    }
    values[text.substr(0, equals)] = value;
  }
  return values;
}

// Returns the statement with the most iterators. If several have equally many, returns the first
// with the most iterators that are not parallel. This rule prefers a recurrence to a parallel
// initialization.
StatementId MainStatement(const Statements& statements) {
  const auto weight = [](const Statement& statement) {
    const auto bound = std::ranges::count_if(statement.iterators, [](const Iterator& iterator) {
      return iterator.kind != IteratorKind::kParallel;
    });
    return std::pair(statement.iterators.size(), bound);
  };
  const auto chosen = std::ranges::max_element(statements, {}, weight);
  return statements.id_of(chosen);
}

Result<std::vector<StatementId>> ChooseStatements(const ScheduleTree& tree,
                                                  const std::vector<std::string>& names) {
  if (names.empty()) return std::vector{MainStatement(tree.statements)};
  std::vector<StatementId> chosen;
  for (const std::string& name : names) {
    const std::optional<StatementId> id = tree.FindStatement(name);
    if (!id) {
      std::vector<std::string> known;
      for (const Statement& statement : tree.statements) known.push_back(statement.name);
      return Fail(ErrorCode::kInvalidArgument, "no statement '{}', expected one of {}", name,
                  fmt::join(known, ", "));
    }
    chosen.push_back(*id);
  }
  return chosen;
}

std::optional<VarId> FindIterator(const Statement& statement, const std::string& name) {
  const auto found = std::ranges::find(statement.iterators, name, &Iterator::name);
  if (found == statement.iterators.end()) return std::nullopt;
  return statement.iterators.id_of(found);
}

// Returns the iterators of the statement that have one of the names. If there are none, returns the
// first iterators of extent above 1, at most two.
std::vector<VarId> ChooseAxes(const Statement& statement, const std::vector<std::string>& names) {
  std::vector<VarId> axes;
  for (const std::string& name : names) {
    if (const auto axis = FindIterator(statement, name)) axes.push_back(*axis);
  }
  if (!axes.empty()) return axes;
  for (const VarId i : statement.iterators.ids()) {
    if (statement.iterators[i].extent > 1 && axes.size() < 2) axes.push_back(i);
  }
  return axes;
}

// Returns the drawn slice of a statement. By default, iterators that are not axes are fixed at half
// of their extent.
Result<PictureView> ViewOf(const ScheduleTree& tree, StatementId id,
                           const PictureArguments& arguments, const IteratorValues& values) {
  const Statement& statement = tree.statements[id];
  PictureView view{.statement = id, .axes = ChooseAxes(statement, arguments.axes)};
  view.sizes.assign(2, arguments.sizes.empty() ? kUsualSize : arguments.sizes.back());
  if (!arguments.sizes.empty()) view.sizes[0] = arguments.sizes.front();
  if (view.axes.size() == 1) view.sizes.erase(view.sizes.begin());
  if (view.axes.empty()) {
    return Fail(ErrorCode::kInvalidArgument, "statement {} has no iterator to draw along",
                statement.name);
  }
  for (const VarId i : statement.iterators.ids()) {
    const Iterator& iterator = statement.iterators[i];
    const bool is_axis = std::ranges::find(view.axes, i) != view.axes.end();
    const auto given = values.find(iterator.name);
    const int64_t value =
        given != values.end() ? given->second : (is_axis ? 0 : iterator.extent / 2);
    if (value < 0 || value >= iterator.extent) {
      return Fail(ErrorCode::kInvalidArgument, "--at {}={}: expected a value in 0 .. {}",
                  iterator.name, value, iterator.extent);
    }
    view.at.push_back(value);
  }
  return view;
}

// Fails with kInvalidArgument if a name is not an iterator of any drawn statement.
Status CheckNames(const ScheduleTree& tree, const std::vector<StatementId>& chosen,
                  const std::vector<std::string>& names, const char* option) {
  for (const std::string& name : names) {
    if (std::ranges::any_of(chosen, [&](StatementId id) {
          return FindIterator(tree.statements[id], name).has_value();
        })) {
      continue;
    }
    return Fail(ErrorCode::kInvalidArgument, "{}: no iterator '{}', {} has {}", option, name,
                tree.statements[chosen[0]].name,
                fmt::join(tree.statements[chosen[0]].IteratorNames(), ", "));
  }
  return {};
}

IterationLayers LayersOf(const std::vector<std::string>& names) {
  const auto has = [&](const char* name) {
    return names.empty() || std::ranges::find(names, name) != names.end();
  };
  IterationLayers layers{.tiles = has("tiles"), .order = has("order"), .tasks = has("tasks")};
  layers.arrows[static_cast<size_t>(DependenceType::kFlow)] = has("flow");
  layers.arrows[static_cast<size_t>(DependenceType::kReduction)] = has("reduction");
  layers.arrows[static_cast<size_t>(DependenceType::kAnti)] = has("anti");
  layers.arrows[static_cast<size_t>(DependenceType::kOutput)] = has("output");
  return layers;
}

// Prints a note for each statement without tiles in its panel, but with more loops than iterators.
void NoteHiddenTiles(const ScheduleTree& tree, const Picture& picture) {
  for (const PicturePanel& panel : picture.panels) {
    const Statement& statement = tree.statements[panel.view.statement];
    const auto loops = LoopsAround(tree.root, panel.view.statement);
    if (panel.tile_levels > 0 || loops.size() <= statement.iterators.size()) continue;
    PrintNote(
        fmt::format("no border of a tile of {} is in sight; --size (up to {}) draws more, "
                    "--at another part",
                    statement.name, kWidestPicture));
  }
}

}  // namespace

void AddPictureOptions(CLI::App& command, PictureArguments& arguments) {
  command
      .add_option("--svg", arguments.svg,
                  "draw the iterations, their dependences, tiles and order after the last step; -: "
                  "print it")
      ->type_name("FILE");
  command
      .add_option("--statement", arguments.statements,
                  "of a drawing, several with commas (default: the one with the most loops)")
      ->type_name("NAME")
      ->delimiter(',');
  command
      .add_option("--axes", arguments.axes,
                  "iterators down and across a drawing, as i,j (default: the first two)")
      ->delimiter(',')
      ->expected(1, 2)
      ->type_name("ITERATORS");
  command
      .add_option("--at", arguments.at,
                  "values of the iterators that do not run (default: the middle), and where the "
                  "axes begin, as k=3,i=16")
      ->delimiter(',')
      ->type_name("ITERATOR=VALUE");
  command
      .add_option("--size", arguments.sizes,
                  fmt::format("points of a drawing along the axes, at most {} (default {})",
                              kWidestPicture, kUsualSize))
      ->delimiter(',')
      ->expected(1, 2)
      ->type_name("N")
      ->check(HideDescription(CLI::Range(int64_t{1}, kWidestPicture)));
  command
      .add_option("--layers", arguments.layers,
                  "what is drawn, of flow,reduction,anti,output,tiles,order,tasks (default: all)")
      ->delimiter(',')
      ->type_name("NAMES")
      ->check(HideDescription(
          CLI::IsMember({"flow", "reduction", "anti", "output", "tiles", "order", "tasks"})));
}

Status DrawSchedule(const ScheduledTree& draft, const PictureArguments& arguments,
                    ReductionOrder order) {
  TUNEC_ASSIGN(const IteratorValues values, ParseIteratorValues(arguments.at));
  TUNEC_ASSIGN(const std::vector<StatementId> chosen,
               ChooseStatements(draft.tree, arguments.statements));
  std::vector<std::string> names;
  for (const auto& [name, value] : values) names.push_back(name);
  TUNEC_RETURN_IF_ERROR(CheckNames(draft.tree, chosen, names, "--at"));
  TUNEC_RETURN_IF_ERROR(CheckNames(draft.tree, chosen, arguments.axes, "--axes"));
  if (arguments.axes.size() == 2 && arguments.axes[0] == arguments.axes[1]) {
    return Fail(ErrorCode::kInvalidArgument, "--axes: expected two iterators, found {} twice",
                arguments.axes[0]);
  }
  std::vector<PictureView> views;
  for (const StatementId id : chosen) {
    TUNEC_ASSIGN(PictureView view, ViewOf(draft.tree, id, arguments, values));
    views.push_back(std::move(view));
  }
  TUNEC_ASSIGN(const Picture picture, TakePicture(draft.tree, draft.dependences, views, order));
  NoteHiddenTiles(draft.tree, picture);
  const std::string text = DrawIterations(draft.tree, picture, LayersOf(arguments.layers));
  if (arguments.svg != "-") return WriteFileAtomically(arguments.svg, text);
  fmt::print("{}", text);
  return {};
}

}  // namespace tunec
