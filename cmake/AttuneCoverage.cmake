# cmake --preset coverage && cmake --build --preset coverage: runs the unit tests and prints the line coverage of the
# layers that promise 90 %; fails below that. Needs the Debian package gcovr.
if(ATTUNE_COVERAGE)
  find_program(ATTUNE_GCOVR gcovr REQUIRED)
  set(report_commands "")
  foreach(folder tuner/spec tuner/space db)
    list(APPEND report_commands COMMAND ${CMAKE_COMMAND} -E echo "== ${folder}" COMMAND ${ATTUNE_GCOVR} --root ${PROJECT_SOURCE_DIR}
      --filter ${PROJECT_SOURCE_DIR}/${folder}/ --exclude-throw-branches --fail-under-line 90 ${PROJECT_BINARY_DIR}/${folder})
  endforeach()
  add_custom_target(coverage
    COMMAND ${CMAKE_CTEST_COMMAND} --test-dir ${PROJECT_BINARY_DIR} -R "^unit_(spec|space|db)$" --output-on-failure
    ${report_commands} USES_TERMINAL VERBATIM
    DEPENDS test_unit_spec test_unit_space test_unit_db)
endif()
