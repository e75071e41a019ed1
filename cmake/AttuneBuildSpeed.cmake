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
