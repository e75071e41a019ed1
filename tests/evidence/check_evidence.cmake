# Whether the recorded GPU test run speaks for the sources as they are now.
# cmake -DROOT=<repository> -DOUTCOME=<outcome.json> -P check_evidence.cmake
# Ends with an error when the file is missing, damaged or of other sources, or when a GPU test failed or was left out.
function(verdict text remedy)
  set(line "==============================================================================")
  message(NOTICE "${line}\nGPU EVIDENCE: ${text}\n${remedy}\n${line}")
endfunction()

# refuse(<text> <remedy>): the banner, then the error that ends the script.
macro(refuse text remedy)
  verdict("${text}" "${remedy}")
  message(FATAL_ERROR "the GPU evidence does not hold")
endmacro()

set(remedy "Run the GPU tests on a machine with a GPU (CONTRIBUTING.md, \"GPU tests and evidence\") and commit ${OUTCOME}.")
if(NOT EXISTS "${OUTCOME}")
  refuse("MISSING. No run of the GPU tests is recorded." "${remedy}")
endif()

file(READ "${OUTCOME}" outcome)
foreach(field passed failed skipped device date content)
  string(JSON ${field} ERROR_VARIABLE problem GET "${outcome}" ${field})
  if(problem)
    refuse("DAMAGED. ${OUTCOME} has no usable '${field}' (${problem})." "${remedy}")
  endif()
endforeach()
if(NOT failed MATCHES "^[0-9]+$" OR NOT passed MATCHES "^[0-9]+$")
  refuse("DAMAGED. 'passed' and 'failed' of ${OUTCOME} are not counts." "${remedy}")
endif()

execute_process(COMMAND ${CMAKE_COMMAND} -DROOT=${ROOT} -P ${CMAKE_CURRENT_LIST_DIR}/../../cmake/content_hash.cmake
                RESULT_VARIABLE result OUTPUT_VARIABLE ignored ERROR_VARIABLE current ERROR_STRIP_TRAILING_WHITESPACE)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "failed computing the content hash of ${ROOT}: ${current}")
endif()

set(run "${passed} passed, ${failed} failed, ${skipped} skipped on ${device}, ${date}")
if(NOT content STREQUAL current)
  refuse("STALE. The recorded run (${run}) was of content ${content}; the sources are now ${current}." "${remedy}")
endif()
if(failed GREATER 0)
  refuse("FAILED. ${run}." "Repair what failed, run the GPU tests again and commit ${OUTCOME}.")
endif()
string(JSON filtered ERROR_VARIABLE problem LENGTH "${outcome}" left_out)
if(problem)
  refuse("DAMAGED. ${OUTCOME} has no usable 'left_out' (${problem})." "${remedy}")
endif()
if(filtered GREATER 0)
  refuse("PARTIAL. ${run}; a filter left out ${filtered} more." "${remedy}")
endif()
if(passed EQUAL 0)
  refuse("EMPTY. ${run}: nothing was shown." "${remedy}")
endif()
verdict("CURRENT. ${run}." "Content ${current}.")
