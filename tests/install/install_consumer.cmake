# cmake --install to a fresh prefix; the consumer finds the package there, builds, runs without a GPU, and needs neither
# libcuda nor NVRTC to start.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    list(JOIN ARGN " " command)
    message(FATAL_ERROR "`${command}` ended with ${result}:\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

function(expect text)
  string(FIND "${output}" "${text}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "expected \"${text}\" in:\n${output}")
  endif()
endfunction()

file(REMOVE_RECURSE ${WORK_FOLDER})
set(prefix ${WORK_FOLDER}/prefix)
run(${CMAKE_COMMAND} --install ${BUILD_FOLDER} --prefix ${prefix})
run(${CMAKE_COMMAND} -S ${SOURCE_FOLDER} -B ${WORK_FOLDER}/build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${prefix}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=${BUILD_TYPE})
run(${CMAKE_COMMAND} --build ${WORK_FOLDER}/build)

# Nothing of this user's or this machine's takes part.
set(ENV{ATTUNE_DB} ${WORK_FOLDER}/none.db)
set(ENV{ATTUNE_SHIPPED_DB} ${WORK_FOLDER}/none-shipped.db)
set(ENV{XDG_CACHE_HOME} ${WORK_FOLDER}/cache)
run(${WORK_FOLDER}/build/consumer)
expect("tier:          default")
expect("\"grid_stage\":")
expect("code:          compiled")
expect("no tuning database at ${WORK_FOLDER}/none.db")
expect("NVRTC compiles in this process: 0")

unset(ENV{ATTUNE_SHIPPED_DB})
run(${WORK_FOLDER}/build/consumer "NVIDIA H200")
expect("layer:         ${prefix}/share/attune/shipped.db")

run(readelf -d ${WORK_FOLDER}/build/consumer)
foreach(library cuda nvrtc cudart)
  if(output MATCHES "NEEDED[^\n]*lib${library}")
    message(FATAL_ERROR "the consumer needs lib${library} to start:\n${output}")
  endif()
endforeach()

# A prefix that was moved: programs that are built against it are told where its database and its command lie now.
set(moved ${WORK_FOLDER}/moved)
file(RENAME ${prefix} ${moved})
run(${CMAKE_COMMAND} -S ${SOURCE_FOLDER} -B ${WORK_FOLDER}/moved_build -G ${GENERATOR} -DCMAKE_PREFIX_PATH=${moved}
    -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_BUILD_TYPE=${BUILD_TYPE})
run(${CMAKE_COMMAND} --build ${WORK_FOLDER}/moved_build --target consumer)
run(${WORK_FOLDER}/moved_build/consumer "NVIDIA H200")
expect("layer:         ${moved}/share/attune/shipped.db")
file(READ ${WORK_FOLDER}/moved_build/attune_found_here.cpp output)
expect("${moved}/bin/attune")
file(RENAME ${moved} ${prefix})

if(EXISTS ${prefix}/bin/attune)
  run(${prefix}/bin/attune --version)
  expect("attune ")
endif()
