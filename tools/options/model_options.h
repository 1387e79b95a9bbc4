// Functions to add MODEL and the settings to subcommands that compile, and to open the model and
// the database.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/options/settings.h"
#include "compiler/sized/load_sized.h"
#include "db/database.h"
#include "graph/graph.h"
#include "numpy/npz.h"
#include "support/error.h"

namespace tunec {

/// Returns the validator without its description in --help.
CLI::Validator HideDescription(const CLI::Validator& validator);

/// A model file, and the settings for reading and compiling it.
struct CompileArguments {
  std::string model;  // a file
  Settings settings;
};
CLI::Option& AddModel(CLI::App& command, std::string& path);
/// Adds MODEL and every setting.
void AddCompileArguments(CLI::App& command, CompileArguments& arguments);

/// A model and everything needed to compile it.
struct Session {
  Graph graph;
  CompileOptions options;
  std::unique_ptr<Database> database;  // may be null
};
/// Makes the options, opens the database and then reads the model.
Result<Session> OpenSession(const CompileArguments& arguments);
/// A session for a model with several sizes of some dimension (HasSeveralSizes).
struct SizedSession {
  SizedSource source;
  std::vector<ListedSizes> listed;
  CompileOptions options;
  std::unique_ptr<Database> database;  // may be null
};
Result<SizedSession> OpenSizedSession(const CompileArguments& arguments);
/// Opens a session for a graph whose dimensions are all fixed. If an ONNX model and the settings
/// leave the shape of an input open, the array of that name in `arrays` gives the shape. Other
/// sizes that are not given have defaults, which a line states. With kRejected, a missing size is
/// an error.
Result<Session> OpenRunnable(const CompileArguments& arguments,
                             std::span<const NamedArray> arrays = {},
                             OpenSizes open_sizes = OpenSizes::kDefault);

}  // namespace tunec
