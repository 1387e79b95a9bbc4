# tunec_library(FOLDER [DEPENDS folder ...] [PRIVATE target ...])
# The static library of one folder: every *.cc below it. DEPENDS are the folders it may
# include (tests/layering checks that it includes no others); PRIVATE are third-party
# targets whose headers stay in its source files.
function(tunec_library folder)
  cmake_parse_arguments(ARG "" "" "DEPENDS;PRIVATE" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/*.cc)
  list(FILTER sources EXCLUDE REGEX "_main\\.cc$")
  add_library(tunec_${folder} STATIC ${sources})
  target_include_directories(tunec_${folder} PUBLIC ${CMAKE_SOURCE_DIR})
  target_link_libraries(tunec_${folder} PUBLIC fmt::fmt)
  foreach(dependency ${ARG_DEPENDS})
    target_link_libraries(tunec_${folder} PUBLIC tunec_${dependency})
  endforeach()
  target_link_libraries(tunec_${folder} PRIVATE ${ARG_PRIVATE})
  set_property(GLOBAL APPEND PROPERTY TUNEC_LAYERS "${folder}:${ARG_DEPENDS}")
endfunction()
