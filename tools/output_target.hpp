#pragma once
#include <filesystem>
#include <string>
#include <string_view>

namespace attune::tools {

/// Before the work whose result a command writes under a name: throws where that cannot succeed (base::check_output), and where it
/// would take the place of a database, of one's write-ahead log, or of a file that `database` needs beside it or will make there.
/// `doing`: the middle of "failed <doing> FILE: ...". Throws: UsageError, EnvironmentError; nothing is changed.
void check_output_target(const std::string& file, const std::filesystem::path& database, const char* doing = "writing");

/// Writes all of a command's output (base::write_output). Ctrl-C ends the waiting for a pipe's reader: exit code 130.
void write_output_target(const std::string& file, std::string_view bytes);

/// Throws when a signal asked to stop (tools/stop_signals.hpp): what an output calls while it waits.
void throw_when_output_is_stopped();

}  // namespace attune::tools
