# Whether the recorded scores of searches speak for the sources as they are now.
# cmake -DROOT=<repository> -DRESULT=<search_score.json> -P check_search_evidence.cmake
# Ends with an error when the file is missing, or when a row is of other sources.
set(remedy "Run bench/search_score (docs/search.md, \"Making the figures\"), then docs/tables/doc_tables.py.")
if(NOT EXISTS "${RESULT}")
  message(FATAL_ERROR "SEARCH EVIDENCE: MISSING. No scores of searches are recorded. ${remedy}")
endif()
execute_process(COMMAND ${CMAKE_COMMAND} -DCOVERS=search -DROOT=${ROOT} -P ${CMAKE_CURRENT_LIST_DIR}/../../cmake/content_hash.cmake
                RESULT_VARIABLE result ERROR_VARIABLE current ERROR_STRIP_TRAILING_WHITESPACE)
if(NOT result EQUAL 0)
  message(FATAL_ERROR "failed computing the hash of the searches of ${ROOT}: ${current}")
endif()
file(STRINGS "${RESULT}" rows REGEX "^ +{\"file\":")  # one a line, as bench/support/score_table.cpp writes them
list(LENGTH rows count)
list(FILTER rows EXCLUDE REGEX "\"content\":\"${current}\"")
list(LENGTH rows stale)
if(count EQUAL 0)
  message(FATAL_ERROR "SEARCH EVIDENCE: EMPTY. ${RESULT} has no rows. ${remedy}")
elseif(stale GREATER 0)
  message(FATAL_ERROR "SEARCH EVIDENCE: STALE. ${stale} of ${count} rows are of other sources than ${current}. ${remedy}")
endif()
message(NOTICE "SEARCH EVIDENCE: CURRENT. ${count} rows of content ${current}.")
