# A digest of everything that decides what happens on a GPU, stamped into the binaries at build time. Benchmark results
# and the recorded outcome of the GPU tests carry it, so that a result of other sources is recognised as stale.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated/attune_build)
add_custom_target(attune_content_hash
  COMMAND ${CMAKE_COMMAND} -DROOT=${PROJECT_SOURCE_DIR} -DOUT=${PROJECT_BINARY_DIR}/generated/attune_build/content_hash.hpp
          -P ${PROJECT_SOURCE_DIR}/cmake/content_hash.cmake
  BYPRODUCTS ${PROJECT_BINARY_DIR}/generated/attune_build/content_hash.hpp VERBATIM COMMENT "Stamping the content hash")
