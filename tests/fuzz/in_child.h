// Checks that may crash or hang, in a process of their own.
#pragma once

#include <cstdio>
#include <functional>
#include <string>

namespace tunec::fuzz {

/// Runs `body` in a child that writes lines to `line`. False when the child crashed or hung (the
/// body sets its alarm).
bool InChild(const std::function<void(FILE*)>& body,
             const std::function<void(const std::string&)>& line);

}  // namespace tunec::fuzz
