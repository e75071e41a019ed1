# What makes builds short: docs/building.md has the figures and how to see them again.
option(ATTUNE_UNITY "Compile several sources of a target as one file" ON)
set(ATTUNE_UNITY_BATCH 8 CACHE STRING "Sources in one compiled file; 0 is all of a target")
option(ATTUNE_COMPILER_CACHE "Use ccache or sccache when one is installed" ON)

# Most of what a file costs is headers and what is made from their templates, so a batch costs little more than one file.
# Eight sources a batch: a change of one source compiles one batch, which takes seconds.
if(NOT DEFINED CMAKE_UNITY_BUILD)
  set(CMAKE_UNITY_BUILD ${ATTUNE_UNITY})
endif()
if(NOT DEFINED CMAKE_UNITY_BUILD_BATCH_SIZE)
  set(CMAKE_UNITY_BUILD_BATCH_SIZE ${ATTUNE_UNITY_BATCH})
endif()

# A launcher that the caller names, also an empty one, is left alone.
if(ATTUNE_COMPILER_CACHE)
  find_program(ATTUNE_COMPILER_CACHE_PROGRAM NAMES ccache sccache)
  mark_as_advanced(ATTUNE_COMPILER_CACHE_PROGRAM)
  foreach(language CXX CUDA)
    if(ATTUNE_COMPILER_CACHE_PROGRAM AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${ATTUNE_COMPILER_CACHE_PROGRAM})
    endif()
  endforeach()
endif()

# A compiler cache takes no file that reads precompiled headers unless it is told to overlook dates; a build by single sources shows what
# each includes.
if(ATTUNE_UNITY AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT (ATTUNE_COMPILER_CACHE AND ATTUNE_COMPILER_CACHE_PROGRAM))
  set(precompiled_default ON)
else()
  set(precompiled_default OFF)
endif()
option(ATTUNE_PRECOMPILED_HEADERS "Precompile the headers of others that most sources read" ${precompiled_default})

# attune_precompiled(<target> <set> [<header>...]): the target reads headers of others that were compiled once for all of its set, whose
# compiler flags must be the same; macros that these headers do not read may differ. They are the first target's of the set, with the
# further headers named for it. Our own are none of them: a change would compile everything anew.
function(attune_precompiled target set)
  if(NOT ATTUNE_PRECOMPILED_HEADERS)
    return()
  endif()
  get_target_property(not_hot ${target} ATTUNE_NOT_HOT)
  if(not_hot AND CMAKE_BUILD_TYPE STREQUAL "Release")
    set(set ${set}_not_hot)
  endif()
  get_property(first GLOBAL PROPERTY ATTUNE_PRECOMPILED_${set})
  if(first)
    target_precompile_headers(${target} REUSE_FROM ${first})
    return()
  endif()
  target_precompile_headers(${target} PRIVATE <algorithm> <chrono> <cstdint> <filesystem> <functional> <map> <memory> <optional> <sstream>
    <string> <vector> <nlohmann/json.hpp> ${ARGN})
  set_property(GLOBAL PROPERTY ATTUNE_PRECOMPILED_${set} ${target})
endfunction()
