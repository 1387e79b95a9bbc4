// MODEL and the settings of the subcommands that compile it, and what they stand for.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/settings.h"
#include "compiler/sized/load_sized.h"
#include "db/database.h"
#include "graph/graph.h"
#include "numpy/npz.h"
#include "support/error.h"

namespace tunec {

/// The validator without its own words in --help.
CLI::Validator Silently(const CLI::Validator& validator);

/// A model and how it is read and compiled.
struct CompileArguments {
  std::string model;  // a file
  Settings settings;
};
CLI::Option& AddModel(CLI::App& command, std::string& path);
/// MODEL and every setting.
void AddCompileArguments(CLI::App& command, CompileArguments& arguments);

/// A model with all that compiling it needs.
struct Session {
  Graph graph;
  CompileOptions options;
  std::unique_ptr<Database> database;  // may be null
};
/// Reads the model and opens the database. Settings that are wrong are found first.
Result<Session> OpenSession(const CompileArguments& arguments);
/// A model whose dimensions have several sizes (HasSeveralSizes), likewise.
struct SizedSession {
  SizedSource source;
  std::vector<ListedSizes> listed;
  CompileOptions options;
  std::unique_ptr<Database> database;  // may be null
};
Result<SizedSession> OpenSizedSession(const CompileArguments& arguments);
/// The same as OpenSession for a model that is to be run: every dimension of its inputs must be a
/// number. The shapes of `arrays` are those of the inputs of their names that the model leaves
/// open.
Result<Session> OpenRunnable(const CompileArguments& arguments,
                             std::span<const NamedArray> arrays = {});

}  // namespace tunec
