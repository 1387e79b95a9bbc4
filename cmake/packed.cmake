# TUNEC_PACKED: finds static versions of the libraries in dependencies.cmake, so that binaries need
# only libc. Debian has all of them except fmt. Symbols of fmt, libisl and libLLVM are hidden,
# because other code in the process may have other copies.
set(CMAKE_FIND_LIBRARY_SUFFIXES .a)
add_link_options(-static-libstdc++ -static-libgcc
  LINKER:--gc-sections LINKER:--exclude-libs,ALL LINKER:--wrap=stderr)

# Replaces the target of fmt's package. The definition FMT_SHARED is that of the package, so objects are
# equal to those of other builds.
add_library(tunec_packed STATIC ${CMAKE_CURRENT_LIST_DIR}/packed_fmt.cc ${CMAKE_CURRENT_LIST_DIR}/packed_libc.c)
target_compile_definitions(tunec_packed PUBLIC FMT_SHARED)
add_library(fmt::fmt ALIAS tunec_packed)

find_library(GMP_LIBRARY gmp REQUIRED)
find_library(ISL_LIBRARY isl REQUIRED)
list(APPEND ISL_LIBRARY ${GMP_LIBRARY})

# Links only the targets of LLVM that jit/ initializes.
find_program(LLVM_CONFIG llvm-config PATHS /usr/lib/llvm-22/bin NO_DEFAULT_PATH REQUIRED)
execute_process(
  COMMAND ${LLVM_CONFIG} --link-static --libfiles x86codegen nvptxcodegen orcjit passes
  OUTPUT_VARIABLE LLVM_LIBRARY OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(LLVM_LIBRARY)
find_library(ZSTD_LIBRARY zstd REQUIRED)
find_library(ZLIB_LIBRARY z REQUIRED)
list(APPEND LLVM_LIBRARY ${ZSTD_LIBRARY} ${ZLIB_LIBRARY})
