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

# Defines the target NAME, which owns one set of precompiled headers. OPTIONS are those of the
# targets that use the set; the compiler rejects the set where they differ.
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

# Optimizes source files for size: those that are a part of libtunec_runtime.so. Other options than
# those of the precompiled headers exclude such files from them.
function(tunec_optimize_for_size)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON
    COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-Os>;-ffunction-sections")
endfunction()
