// The command tunec as a function, for every program that is it.
#pragma once

namespace tunec {

/// What main does; returns the exit code.
int RunTunec(int argc, char** argv);

}  // namespace tunec
