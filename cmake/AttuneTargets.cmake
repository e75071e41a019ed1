# Warnings, sanitizers and coverage belong to our own targets only.
add_library(attune_build_flags INTERFACE)
target_compile_features(attune_build_flags INTERFACE cxx_std_20)
target_compile_options(attune_build_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall;-Wextra;-Wpedantic;-Wshadow;-Wconversion;-Wno-sign-conversion;-Wno-restrict;-Werror>)
# GCC 12 reports false positives of these warnings in optimised code without batches, and where sanitizers change its inlining.
target_compile_options(attune_build_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wno-maybe-uninitialized;-Wno-array-bounds;-Wno-stringop-overflow>)
if(ATTUNE_SANITIZE)
  string(REPLACE "," ";" sanitizers "${ATTUNE_SANITIZE}")
  foreach(sanitizer IN LISTS sanitizers)
    target_compile_options(attune_build_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${sanitizer};-fno-omit-frame-pointer>)
    target_link_options(attune_build_flags INTERFACE -fsanitize=${sanitizer})
  endforeach()
endif()
if(ATTUNE_COVERAGE)
  target_compile_options(attune_build_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:--coverage;-O0>)
  target_link_options(attune_build_flags INTERFACE --coverage)
endif()

# attune_not_hot(<target>): nobody waits for its code, so an optimised build spends less on it.
function(attune_not_hot target)
  target_compile_options(${target} PRIVATE $<$<AND:$<CONFIG:Release>,$<COMPILE_LANGUAGE:CXX>>:-O1>)
  set_target_properties(${target} PROPERTIES ATTUNE_NOT_HOT ON)
endfunction()

# attune_module(<name> [NOT_HOT] SOURCES ... LINKS ... [PRIVATE_LINKS ...]): one layer of the pipeline as the static library
# attune_<name>. Headers are included from the repository root ("tuner/spec/value.hpp", "db/database.hpp"); the
# public ones as "attune/runtime.hpp".
function(attune_module name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "NOT_HOT" "" "SOURCES;LINKS;PRIVATE_LINKS")
  add_library(attune_${name} STATIC ${arg_SOURCES})
  set_target_properties(attune_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON EXPORT_NAME module_${name})
  target_include_directories(attune_${name} PUBLIC
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/tuner/include>
    $<INSTALL_INTERFACE:include>)
  target_include_directories(attune_${name} PRIVATE ${PROJECT_BINARY_DIR}/generated)
  target_compile_features(attune_${name} PUBLIC cxx_std_20)
  target_link_libraries(attune_${name} PUBLIC ${arg_LINKS} PRIVATE $<BUILD_INTERFACE:attune_build_flags> ${arg_PRIVATE_LINKS})
  if(arg_NOT_HOT)
    attune_not_hot(attune_${name})
  endif()
  attune_precompiled(attune_${name} module)
endfunction()

# attune_embed(<target> <symbol> <file>...): the bytes of files, read through attune::base::embedded_<symbol>().
# See cmake/embed.cmake.
function(attune_embed target symbol)
  set(out "${PROJECT_BINARY_DIR}/generated/embedded/${symbol}.cpp")
  add_custom_command(OUTPUT ${out}
    COMMAND ${CMAKE_COMMAND} -DOUT=${out} -DSYMBOL=${symbol} "-DFILES=${ARGN}" -DROOT=${PROJECT_SOURCE_DIR} -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${ARGN} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM COMMENT "Embedding ${symbol}")
  target_sources(${target} PRIVATE ${out})
  # Every embedded file has tables of the same names, and a changed one is compiled alone.
  set_source_files_properties(${out} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON SKIP_PRECOMPILE_HEADERS ON)
endfunction()
