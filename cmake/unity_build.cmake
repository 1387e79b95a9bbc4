# Compiling several files of a target as one takes half of the time of a build from nothing, because
# headers are parsed and templates are compiled once. After a change of one file, its whole group
# is compiled again. So only continuous integration uses TUNEC_UNITY.
option(TUNEC_UNITY "compile several source files as one" OFF)

# Groups the source files of a target. A file with other compile options than its target stays alone.
function(tunec_unity target)
  if(NOT TUNEC_UNITY)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  execute_process(COMMAND ${CMAKE_SOURCE_DIR}/tools/unity_groups.py ${sources}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} OUTPUT_VARIABLE lines COMMAND_ERROR_IS_FATAL ANY)
  string(REGEX MATCHALL "[^\n]+" lines "${lines}")
  foreach(line ${lines})
    string(REGEX MATCH "^([0-9]+) (.*)$" line "${line}")
    set_source_files_properties(${CMAKE_MATCH_2} PROPERTIES UNITY_GROUP "${target}_${CMAKE_MATCH_1}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()
