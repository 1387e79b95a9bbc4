# Libraries that tunec depends on; tools/dev setup installs their Debian packages.
if(TUNEC_PACKED)
  include(${CMAKE_CURRENT_LIST_DIR}/packed.cmake)
else()
  find_package(fmt REQUIRED)
  find_library(ISL_LIBRARY isl REQUIRED)
  find_library(LLVM_LIBRARY NAMES LLVM-22 LLVM PATHS /usr/lib/llvm-22/lib NO_DEFAULT_PATH REQUIRED)
endif()
find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(SQLiteCpp REQUIRED)
find_path(XXHASH_INCLUDE_DIR xxhash.h REQUIRED)

# LLVM is used by its headers and one shared library. LLVM's own compile flags change exceptions and
# assertions, and must not leak into the rest of the project.
find_path(LLVM_INCLUDE_DIR llvm/IR/IRBuilder.h PATHS /usr/lib/llvm-22/include NO_DEFAULT_PATH REQUIRED)

add_library(tunec_isl INTERFACE)
target_link_libraries(tunec_isl INTERFACE ${ISL_LIBRARY})

# libLLVM exports Polly's copy of isl, so -lisl must come first on the link line.
add_library(tunec_llvm INTERFACE)
target_include_directories(tunec_llvm SYSTEM INTERFACE ${LLVM_INCLUDE_DIR})
target_link_libraries(tunec_llvm INTERFACE ${ISL_LIBRARY} ${LLVM_LIBRARY})

# LLVM for folders that use only its hash function BLAKE3.
add_library(tunec_blake3 INTERFACE)
target_link_libraries(tunec_blake3 INTERFACE tunec_llvm)
