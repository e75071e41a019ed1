# `cpack` in a build folder: of the portable build a tarball of the command, else Debian packages of the three components of cmake/AttuneInstall.cmake.
# tools/package.sh makes what is released, by builds with ATTUNE_USES_BUILD_TREE=OFF: packages of others look for what is missing in folders of the machine
# that built them. Of a build of another prefix than theirs a program that tunes on a miss finds the command only beside itself or by ATTUNE_WORKER.
set(CPACK_PACKAGE_NAME attune)
set(CPACK_PACKAGE_VENDOR attune)
set(CPACK_PACKAGE_CONTACT "The attune maintainers <maintainers@attune.invalid>")  # Debian's format asks for an address
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_STRIP_FILES ON)
set(CPACK_ARCHIVE_THREADS 0)
set(CPACK_COMPONENTS_ALL command development)
if(ATTUNE_SHARED)
  list(APPEND CPACK_COMPONENTS_ALL library)
endif()

if(ATTUNE_PORTABLE)
  set(CPACK_GENERATOR TGZ)
  set(CPACK_COMPONENTS_ALL command)
  set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
  set(CPACK_PACKAGE_FILE_NAME attune-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR})  # of the folder in the archive
  set(CPACK_ARCHIVE_COMMAND_FILE_NAME ${CPACK_PACKAGE_FILE_NAME})
  set(CPACK_COMPONENT_INCLUDE_TOPLEVEL_DIRECTORY ON)
else()
  set(CPACK_GENERATOR DEB)
endif()

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
if(ATTUNE_PORTABLE)
  set(CPACK_PACKAGING_INSTALL_PREFIX "")
endif()
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(soname ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME attune)
# CPack puts the summary in front of each.
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "The command: compiles the configurations of kernel templates with NVRTC, checks
and times them, and keeps the best of each GPU architecture in a database.")
set(CPACK_DEBIAN_COMMAND_PACKAGE_RECOMMENDS "python3-numpy")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME libattune${soname})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "The shared library: launches the configuration that attune found fastest for each size on this GPU.")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS "attune")  # its database
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libattune-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
    "attune (= ${PROJECT_VERSION}), nlohmann-json3-dev, libfmt-dev, libsqlite3-dev, libsqlitecpp-dev, libzstd-dev")
if(ATTUNE_SHARED)
  string(APPEND CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS ", libattune${soname} (= ${PROJECT_VERSION})")
endif()
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "libeigen3-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "The development files: headers, archives, CMake package, pkg-config file and examples.")
include(CPack)
