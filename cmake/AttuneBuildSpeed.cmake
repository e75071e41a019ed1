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

# AUTO: not with a launcher, since a compiler cache takes no file that reads precompiled headers unless it is told to overlook dates; not by
# single sources, which is to show what each includes; and not where flags are such that those of a set differ.
set(ATTUNE_PRECOMPILED_HEADERS AUTO CACHE STRING "Precompile the headers of others that most sources read: ON, OFF or AUTO")
get_property(several_configurations GLOBAL PROPERTY GENERATOR_IS_MULTI_CONFIG)
set(ATTUNE_PRECOMPILES ${ATTUNE_PRECOMPILED_HEADERS})
if(ATTUNE_PRECOMPILED_HEADERS STREQUAL "AUTO")
  set(ATTUNE_PRECOMPILES ON)
  if(NOT ATTUNE_UNITY OR CMAKE_CXX_COMPILER_LAUNCHER OR several_configurations OR CMAKE_POSITION_INDEPENDENT_CODE)
    set(ATTUNE_PRECOMPILES OFF)
  endif()
endif()

# attune_precompiled(<target> <set> [<header>...]): the target reads headers of others that were compiled once for all of its set, whose
# compiler flags must be the same; every macro that the first is given must be given to all, others may differ. They are the first target's of the set, with the
# further headers named for it. Our own are none of them: a change would compile everything anew.
function(attune_precompiled target set)
  if(NOT ATTUNE_PRECOMPILES)
    return()
  endif()
  get_target_property(not_hot ${target} ATTUNE_NOT_HOT)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  if(not_hot AND type STREQUAL "RELEASE")
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
