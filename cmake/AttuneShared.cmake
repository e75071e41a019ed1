# libattune.so: dispatch (attune/*.hpp) as a shared library, for programs that are to get a newer attune without being built anew. It is the same code as
# the archives, linked once more. Below 1.0 the minor version is part of the SONAME: what it promises may change with it.
set(attune_exports ${CMAKE_CURRENT_LIST_DIR}/attune_exports.map)
file(RELATIVE_PATH attune_library_to_data ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_DATADIR})
file(RELATIVE_PATH attune_library_to_bin ${CMAKE_INSTALL_FULL_LIBDIR} ${CMAKE_INSTALL_FULL_BINDIR})
configure_file(${CMAKE_CURRENT_LIST_DIR}/shared_library.cpp.in ${PROJECT_BINARY_DIR}/generated/shared_library.cpp @ONLY)
add_library(attune_shared SHARED ${PROJECT_BINARY_DIR}/generated/shared_library.cpp)
set_target_properties(attune_shared PROPERTIES OUTPUT_NAME attune EXPORT_NAME shared LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} LINK_DEPENDS ${attune_exports})
target_compile_features(attune_shared INTERFACE cxx_std_20)
target_include_directories(attune_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/tuner/include> $<INSTALL_INTERFACE:include>)
target_link_libraries(attune_shared PRIVATE $<BUILD_INTERFACE:$<LINK_LIBRARY:WHOLE_ARCHIVE,attune_runtime>> $<BUILD_INTERFACE:attune_build_flags>)
# Only attune's own names leave it: what is linked into it must not take the place of a program's own SQLite.
target_link_options(attune_shared PRIVATE -Wl,--version-script=${attune_exports} -Wl,-z,defs -Wl,--gc-sections)
