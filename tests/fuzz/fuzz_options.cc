#include "tests/fuzz/fuzz_options.h"

#include "support/processors.h"

namespace tunec::fuzz {

void AddFuzzOptions(CLI::App& app, FuzzOptions& options, const std::string& cases,
                    const std::string& share) {
  options.jobs = UsableProcessors();
  app.add_option(cases + "s", options.cases, "how many; 0: until the time is up");
  app.add_option("--seed", options.seed, "of the first " + cases + "; each next has the next");
  app.add_option("--code", options.code,
                 "how many go through machine code too (default: a " + share + ")");
  app.add_option("--seconds", options.seconds, "stop after this time");
  app.add_option("--jobs", options.jobs, "children at once (default: one per core)");
}

void SetLimit(FuzzOptions& options) {
  if (options.cases == 0 && options.seconds == 0) options.seconds = 10;
}

}  // namespace tunec::fuzz
