# TUNEC_PACKED: what Debian has as static libraries is linked as such; the rest is here.

# LLVM: of its targets the two that jit/ initialises.
find_program(LLVM_CONFIG NAMES llvm-config-22 llvm-config PATHS /usr/lib/llvm-22/bin REQUIRED)
execute_process(
  COMMAND ${LLVM_CONFIG} --link-static --libfiles x86codegen nvptxcodegen orcjit passes
  OUTPUT_VARIABLE LLVM_LIBRARY OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
separate_arguments(LLVM_LIBRARY)
find_library(ZSTD_LIBRARY zstd REQUIRED)
find_library(ZLIB_LIBRARY z REQUIRED)
list(APPEND LLVM_LIBRARY ${ZSTD_LIBRARY} ${ZLIB_LIBRARY})

find_library(GMP_LIBRARY gmp REQUIRED)
list(APPEND ISL_LIBRARY ${GMP_LIBRARY})

# fmt: Debian has the shared library alone. Other code is compiled as ever.
add_library(tunec_packed_fmt STATIC ${CMAKE_CURRENT_LIST_DIR}/packed_fmt.cc)
add_library(tunec_fmt INTERFACE)
foreach(property COMPILE_DEFINITIONS INCLUDE_DIRECTORIES COMPILE_FEATURES)
  set_property(TARGET tunec_packed_fmt PROPERTY ${property}
    $<TARGET_PROPERTY:fmt::fmt,INTERFACE_${property}>)
  set_property(TARGET tunec_fmt PROPERTY INTERFACE_${property}
    $<TARGET_PROPERTY:fmt::fmt,INTERFACE_${property}>)
endforeach()
target_link_libraries(tunec_fmt INTERFACE tunec_packed_fmt)
