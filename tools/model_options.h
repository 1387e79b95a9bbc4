// The options that the subcommands share, and what they stand for.
#pragma once

#include <CLI/App.hpp>
#include <CLI/Validators.hpp>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compiler/compiler.h"
#include "compiler/open_database.h"
#include "db/database.h"
#include "graph/graph.h"
#include "support/error.h"

namespace tunec {

/// The validator without its own words in --help.
CLI::Validator Silently(const CLI::Validator& validator);

/// MODEL and how it is read.
struct ModelArguments {
  std::string path;
  std::vector<std::string> shapes;     // name=1x3x224x224
  std::vector<std::string> constants;  // name=file.npy
  std::optional<uint64_t> random_weights;
};
void AddModelArguments(CLI::App& command, ModelArguments& arguments);
Result<Graph> ReadModel(const ModelArguments& arguments);

/// --rules FILE, --fast-math: what may be done to the graph.
struct RewriteArguments {
  std::vector<std::string> rules;
  bool fast_math = false;

  FloatRules float_rules() const { return fast_math ? FloatRules::kFast : FloatRules::kStrict; }
};
void AddRewriteArguments(CLI::App& command, RewriteArguments& arguments);
/// The rules of the files; null without any.
Result<std::shared_ptr<const RuleSet>> ReadRules(const RewriteArguments& arguments);

/// --db FILE, --no-db.
struct DatabaseArguments {
  std::string path;
  bool none = false;
};
void AddDatabaseArguments(CLI::App& command, DatabaseArguments& arguments);
/// Where the database is: the path given, else the user's. kNotFound without a home.
Result<std::string> DatabasePath(const DatabaseArguments& arguments);

/// How it is compiled.
struct CompileArguments {
  ModelArguments model;
  DatabaseArguments database;
  std::string target = "cpu";
  int64_t trials = 0;
  std::string time_limit;           // empty: none
  std::vector<std::string> retune;  // groups, or all
  bool verbose = false;
  int threads = 0;
  std::string accuracy = "f32";
  std::string cpu = "native";
  uint64_t seed = 0;
  std::vector<std::string> disabled_passes;
  RewriteArguments rewrites;
  bool naive = false;
  std::string failure_folder;  // empty: failing candidates are not written out
  bool perf_map = false;
};
void AddCompileArguments(CLI::App& command, CompileArguments& arguments);
Result<CompileOptions> MakeCompileOptions(const CompileArguments& arguments);

/// A model with all that compiling it needs.
struct Session {
  Graph graph;
  CompileOptions options;
  std::unique_ptr<Database> database;  // may be null
};
/// Reads the model and opens the database. Options that are wrong are found first.
Result<Session> OpenSession(const CompileArguments& arguments);
/// The same for a model that is to be run: every dimension of its inputs must be a number.
Result<Session> OpenRunnable(const CompileArguments& arguments);

}  // namespace tunec
