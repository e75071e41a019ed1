# Every third-party package the project uses, found once. docs/decisions/0001-dependencies.md says why each.
find_package(Threads REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(CLI11 2.1 REQUIRED)

if(ATTUNE_PORTABLE)
  # The portable build runs on a Linux that has none of our packages: static archives only.
  find_library(SQLite3_LIBRARY NAMES libsqlite3.a REQUIRED)
  set(ZLIB_USE_STATIC_LIBS ON)
endif()
find_package(SQLite3 3.40 REQUIRED)
find_package(SQLiteCpp 3 REQUIRED)
find_package(zstd REQUIRED)
find_package(Eigen3 3.4 REQUIRED)
find_package(ZLIB REQUIRED)
find_path(ATTUNE_XXHASH_INCLUDE_DIR xxhash.h REQUIRED)

add_library(attune_sqlite INTERFACE)
target_link_libraries(attune_sqlite INTERFACE SQLiteCpp SQLite::SQLite3 Threads::Threads)
add_library(attune_fmt INTERFACE)
add_library(attune_zstd INTERFACE)
if(ATTUNE_PORTABLE)
  target_link_libraries(attune_sqlite INTERFACE m ${CMAKE_DL_LIBS})
  if(fmt_VERSION VERSION_LESS 11)
    add_library(attune_fmt_parts STATIC ${PROJECT_SOURCE_DIR}/tuner/base/fmt_parts.cpp)
    set_target_properties(attune_fmt_parts PROPERTIES POSITION_INDEPENDENT_CODE ON EXPORT_NAME fmt_parts)
    target_compile_features(attune_fmt_parts PUBLIC cxx_std_20)
    target_include_directories(attune_fmt_parts SYSTEM PUBLIC $<TARGET_PROPERTY:fmt::fmt-header-only,INTERFACE_INCLUDE_DIRECTORIES>)
    target_link_libraries(attune_fmt INTERFACE attune_fmt_parts)
  else()
    # fmt 11 has other parts.
    target_link_libraries(attune_fmt INTERFACE fmt::fmt-header-only)
  endif()
  target_link_libraries(attune_zstd INTERFACE zstd::libzstd_static)
else()
  target_link_libraries(attune_fmt INTERFACE fmt::fmt)
  target_link_libraries(attune_zstd INTERFACE zstd::libzstd_shared)
endif()

# The CUDA toolkit gives headers (cuda.h, nvrtc.h, cuda_occupancy.h) at build time. Neither libcuda nor NVRTC is
# linked: both are loaded at run time, so that every binary starts on a machine without them.
find_package(CUDAToolkit 12.4 REQUIRED)
add_library(attune_cuda_headers INTERFACE)
# Not part of the installed target: only the tuning headers include cuda.h (cmake/attuneConfig.cmake.in finds it for them).
target_include_directories(attune_cuda_headers SYSTEM INTERFACE $<BUILD_INTERFACE:${CUDAToolkit_INCLUDE_DIRS}>)

# Not part of the installed target either: the tuning headers of some strategies include it.
add_library(attune_eigen INTERFACE)
get_target_property(attune_eigen_include Eigen3::Eigen INTERFACE_INCLUDE_DIRECTORIES)
target_include_directories(attune_eigen SYSTEM INTERFACE $<BUILD_INTERFACE:${attune_eigen_include}>)

if(ATTUNE_TESTS)
  find_package(doctest 2.4 REQUIRED)
endif()
find_file(ATTUNE_CHART_JS chart.min.js PATHS /usr/share/javascript/chart.js /usr/share/nodejs/chart.js/dist REQUIRED
          DOC "Chart.js, inlined into HTML reports")
