# tunec_library(FOLDER [SEPARATE] [DEPENDS folder ...] [PRIVATE target ...])
# Defines the static library of one folder from every *.cc below it. DEPENDS lists the folders
# whose headers these files may include (tests/layering rejects other includes). PRIVATE lists
# third-party targets whose headers are only used in source files. With SEPARATE, TUNEC_UNITY has no
# effect, because libtunec_runtime.so links only some of the object files.
function(tunec_library folder)
  cmake_parse_arguments(ARG "SEPARATE" "" "DEPENDS;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_main\\.cc$")
  if(NOT sources)
    message(WARNING "${folder}: no source files, so there is no library tunec_${folder}")
    return()
  endif()
  add_library(tunec_${folder} STATIC ${sources})
  target_include_directories(tunec_${folder} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(tunec_${folder} PUBLIC fmt::fmt)
  foreach(dependency ${ARG_DEPENDS})
    target_link_libraries(tunec_${folder} PUBLIC tunec_${dependency})
  endforeach()
  target_link_libraries(tunec_${folder} PRIVATE ${ARG_PRIVATE})
  tunec_use_precompiled(tunec_${folder} precompiled_standard)
  if(NOT ARG_SEPARATE)
    tunec_unity(tunec_${folder})
  endif()
  set_property(GLOBAL APPEND PROPERTY TUNEC_LAYERS "${folder}:${ARG_DEPENDS}")
endfunction()

# Optimizes source files of libtunec_runtime.so for size. These files use no precompiled headers,
# because their compile options differ from those of the headers.
function(tunec_optimize_for_size)
  set_source_files_properties(${ARGN} PROPERTIES SKIP_PRECOMPILE_HEADERS ON
    COMPILE_OPTIONS "$<$<NOT:$<CONFIG:Debug>>:-Os>;-ffunction-sections")
endfunction()
