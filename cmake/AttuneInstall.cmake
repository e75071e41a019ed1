# What is installed, in three components, which are the three packages of cmake/AttunePackages.cmake:
#   command      attune, the shipped database, recordings, what imports Kernel Tuner's scripts, completion and manual pages
#   library      libattune.so.<major>.<minor>: dispatch as a shared library
#   development  static libraries with CMake targets attune::runtime, attune::db and attune::tuner, attune::shared, public headers in include/,
#                those of the tuning libraries in include/attune-tuner/, pkg-config
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
# Whatever the umask: data and programs in a folder that a group may write are refused (base/private_path.hpp).
set(CMAKE_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

# The tuning libraries, session and below, as one target.
add_library(attune_tuner INTERFACE)
target_link_libraries(attune_tuner INTERFACE attune_session attune_search attune_measure attune_verify attune_worker attune_space attune_db attune_gpu
                      attune_compile attune_spec attune_base)
add_library(attune::tuner ALIAS attune_tuner)

set(attune_modules base spec space gpu compile measure verify worker search session runtime db)
set(attune_dependencies sqlite fmt zstd cuda_headers eigen)
foreach(name runtime db tuner ${attune_dependencies})
  set_target_properties(attune_${name} PROPERTIES EXPORT_NAME ${name})
endforeach()
set(attune_internal_headers ${CMAKE_INSTALL_INCLUDEDIR}/attune-tuner)
foreach(name db tuner)
  target_include_directories(attune_${name} INTERFACE $<INSTALL_INTERFACE:${attune_internal_headers}>)
endforeach()

set(attune_targets attune_tuner)
foreach(name IN LISTS attune_modules attune_dependencies)
  list(APPEND attune_targets attune_${name})
endforeach()
if(TARGET attune_fmt_parts)
  list(APPEND attune_targets attune_fmt_parts)
endif()
install(TARGETS ${attune_targets} EXPORT attuneTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
install(TARGETS attune RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
if(ATTUNE_SHARED)
  include(AttuneShared)
  install(TARGETS attune_shared EXPORT attuneTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT development)
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/tuner/include/attune DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development FILES_MATCHING PATTERN "*.hpp")
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tuner DESTINATION ${attune_internal_headers} COMPONENT development
        FILES_MATCHING PATTERN "*.hpp" PATTERN "*.cuh" PATTERN include EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/templates/include/attune/reference_types.cuh DESTINATION ${attune_internal_headers}/templates/include/attune
        COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/db DESTINATION ${attune_internal_headers} COMPONENT development FILES_MATCHING PATTERN "*.hpp")
install(FILES ${PROJECT_BINARY_DIR}/share/shipped.db DESTINATION ${CMAKE_INSTALL_DATADIR}/attune COMPONENT command OPTIONAL)
# What `attune tune` replays on a machine without a GPU.
file(GLOB attune_recordings CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/templates/*/recordings/*.json.zst)
foreach(recording IN LISTS attune_recordings)
  string(REGEX REPLACE "^.*/templates/([^/]+)/recordings/.*$" "\\1" template ${recording})
  install(FILES ${recording} DESTINATION ${CMAKE_INSTALL_DATADIR}/attune/recordings/${template} COMPONENT command)
endforeach()

# What `attune template import` runs scripts of Kernel Tuner with.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tools/python DESTINATION ${CMAKE_INSTALL_DATADIR}/attune COMPONENT command FILES_MATCHING PATTERN "*.py")

# Completion and manual pages, where shells and man(1) look below a prefix.
set(attune_shell_files ${PROJECT_BINARY_DIR}/share/shell)
install(FILES ${attune_shell_files}/attune.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME attune COMPONENT command)
install(FILES ${attune_shell_files}/_attune DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT command)
install(FILES ${attune_shell_files}/attune.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT command)
install(DIRECTORY ${attune_shell_files}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT command)

# To read, and for editors: templates get these headers from the command and the library.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/templates/include DESTINATION ${CMAKE_INSTALL_DATADIR}/attune COMPONENT command FILES_MATCHING PATTERN "*.cuh")

set(attune_package ${CMAKE_INSTALL_LIBDIR}/cmake/attune)
install(EXPORT attuneTargets NAMESPACE attune:: DESTINATION ${attune_package} COMPONENT development)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/attuneConfig.cmake.in ${PROJECT_BINARY_DIR}/attuneConfig.cmake
                              INSTALL_DESTINATION ${attune_package})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/attuneConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/attuneConfig.cmake ${PROJECT_BINARY_DIR}/attuneConfigVersion.cmake DESTINATION ${attune_package}
        COMPONENT development)

# For programs that are not built by CMake.
if(ATTUNE_SHARED)
  file(RELATIVE_PATH attune_pc_prefix ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
  configure_file(${PROJECT_SOURCE_DIR}/cmake/attune.pc.in ${PROJECT_BINARY_DIR}/attune.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/attune.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endif()

# To read and to build: they are a project of their own beside an installed attune.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libattune-dev COMPONENT development)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/docs DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/attune COMPONENT command
        FILES_MATCHING PATTERN "*.md" PATTERN "*.png" PATTERN site EXCLUDE PATTERN tables EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/README.md ${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_SOURCE_DIR}/SECURITY.md DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/attune
        COMPONENT command)
# The notices of the libraries whose code the binaries hold (the Debian packages that of headers alone), where Debian's packages have them.
set(ATTUNE_MISSING_NOTICE STATUS CACHE STRING "How it is told that a notice cannot be installed: STATUS, WARNING or FATAL_ERROR")
function(attune_install_notices component folder)
  foreach(package IN LISTS ARGN)
    set(notice /usr/share/doc/${package}/copyright)
    if(package STREQUAL MPL-2.0)  # Eigen's, which its notice leads to
      set(notice /usr/share/common-licenses/MPL-2.0)
    endif()
    if(EXISTS ${notice})
      install(FILES ${notice} DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${folder}/notices RENAME ${package} COMPONENT ${component})
    else()
      message(${ATTUNE_MISSING_NOTICE} "What is installed lacks the notice of ${package}: there is no ${notice}.")
    endif()
  endforeach()
endfunction()
attune_install_notices(command attune libzstd-dev zlib1g-dev libfmt-dev libsqlite3-dev libsqlitecpp-dev nlohmann-json3-dev libcli11-dev libxxhash-dev libeigen3-dev MPL-2.0
  libjs-chart.js)
if(ATTUNE_SHARED)
  attune_install_notices(library libattune${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} libsqlitecpp-dev nlohmann-json3-dev libxxhash-dev)
endif()
include(AttunePackages)
