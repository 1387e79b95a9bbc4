# Headers of the standard library, fmt and GoogleTest are parsed once and not by each of 1,200 files.
# The project's own headers stay out: a change of one would compile everything again. With
# TUNEC_PRECOMPILE=OFF (presets sanitize, thread and fuzz), a missing #include is an error.
option(TUNEC_PRECOMPILE "precompile the headers of other projects" ON)

set(TUNEC_PRECOMPILED_STANDARD
  <algorithm> <array> <atomic> <bit> <cerrno> <charconv> <chrono> <cmath> <cstddef> <cstdint> <cstdio>
  <cstdlib> <cstring> <expected> <filesystem> <fstream> <functional> <iterator> <limits> <map>
  <memory> <mutex> <numeric> <optional> <ostream> <random> <set> <span> <sstream> <string>
  <string_view> <thread> <tuple> <unordered_map> <unordered_set> <utility> <variant> <vector>
  <fmt/format.h> <fmt/ranges.h>)

# tunec_precompiled_set(NAME [EXECUTABLE] [HEADERS header ...] [LIBRARIES target ...])
# Defines the target NAME, which owns one set of precompiled headers: the standard ones and HEADERS.
# The compiler rejects the set for targets with other compile options. EXECUTABLE and LIBRARIES give
# the set the options of the targets that use it.
function(tunec_precompiled_set name)
  cmake_parse_arguments(ARG "EXECUTABLE" "" "HEADERS;LIBRARIES" ${ARGN})
  if(NOT TUNEC_PRECOMPILE)
    return()
  endif()
  set(source ${CMAKE_BINARY_DIR}/${name}.cc)
  file(CONFIGURE OUTPUT ${source} CONTENT "// Compiled for its precompiled headers.\nint main() {}\n")
  if(ARG_EXECUTABLE)
    add_executable(${name} ${source})
  else()
    add_library(${name} OBJECT ${source})
  endif()
  target_link_libraries(${name} PRIVATE fmt::fmt ${ARG_LIBRARIES})
  target_compile_options(${name} PRIVATE -fpch-preprocess)
  target_precompile_headers(${name} PRIVATE ${TUNEC_PRECOMPILED_STANDARD} ${ARG_HEADERS})
endfunction()

# Compiles a target with the precompiled headers of the target SET.
function(tunec_use_precompiled target set)
  if(TUNEC_PRECOMPILE)
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
    target_precompile_headers(${target} REUSE_FROM ${set})
  endif()
endfunction()
