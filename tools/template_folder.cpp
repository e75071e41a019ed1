#include "tools/template_folder.hpp"

#include <fmt/core.h>

#include <filesystem>
#include <set>
#include <string_view>
#include <system_error>

#include "attune/error.hpp"
#include "tools/output_target.hpp"
#include "tools/stop_signals.hpp"
#include "tuner/base/file_pieces.hpp"
#include "tuner/base/json.hpp"
#include "tuner/base/output_file.hpp"
#include "tuner/base/terminal.hpp"

namespace attune::tools {

namespace fs = std::filesystem;
using importing::Note;
using nlohmann::json;

void check_template_folder(const std::string& folder, const std::string& doing) {
  const auto refuse = [&](const char* why) {
    throw UsageError(fmt::format("failed {}: '{}' {}; name a folder that does not exist yet", doing, folder, why));
  };
  std::error_code error;
  const fs::file_status status = fs::status(folder, error);
  if (!fs::exists(status)) return;
  if (!fs::is_directory(status)) refuse("is no folder");
  const bool empty = fs::is_empty(folder, error);
  if (error) throw EnvironmentError(fmt::format("failed reading {}: {}", folder, error.message()));
  if (!empty) refuse("is not empty");
}

namespace {

/// Of template.json, sources and arrays: their paths in the folder.
std::set<std::string> names_of(const importing::ImportedTemplate& made) {
  std::set<std::string> names;
  for (const auto& file : made.files) names.insert(file.first);
  for (const auto& data : made.kernel.data) names.insert(data.first);
  return names;
}

/// Copies an array piece by piece: it may be larger than memory.
void copy_data(const fs::path& from, const fs::path& to) {
  base::FilePieces pieces(from);
  stop_on_signals();
  base::OutputFile output(to, throw_when_output_is_stopped);
  for (std::string_view piece = pieces.next(); !piece.empty(); piece = pieces.next()) {
    throw_when_output_is_stopped();
    output.write(piece);
  }
  output.commit();
}

/// template.json comes last: without it a folder is no template.
void write_files(const fs::path& folder, const importing::ImportedTemplate& made) {
  const auto make = [](const fs::path& path) {
    std::error_code error;
    fs::create_directories(path, error);
    if (error) throw EnvironmentError(fmt::format("failed creating {}: {}", path.string(), error.message()));
  };
  make(folder);
  for (const auto& [name, data] : made.kernel.data) {
    make((folder / name).parent_path());
    copy_data(data.from, folder / name);
  }
  for (const bool spec : {false, true}) {
    for (const auto& [name, bytes] : made.files) {
      if ((name == "template.json") != spec) continue;
      make((folder / name).parent_path());
      write_output_target((folder / name).string(), bytes);
    }
  }
}

}  // namespace

void write_template_folder(const std::string& folder, const importing::ImportedTemplate& made) {
  std::error_code ignored;  // the failure to write is what is told
  const bool was_there = fs::exists(folder, ignored);
  try {
    write_files(folder, made);
  } catch (...) {  // it was empty, or not there: so it is again, for the next try
    for (const std::string& name : names_of(made)) fs::remove_all(fs::path(folder) / *fs::path(name).begin(), ignored);
    if (!was_there) fs::remove(folder, ignored);
    throw;
  }
}

const char* text_of(Note::Kind kind) {
  switch (kind) {
    case Note::Kind::Taken:
      return "taken";
    case Note::Kind::Changed:
      return "changed";
    case Note::Kind::Guessed:
      return "guessed";
    case Note::Kind::LeftOut:
      return "left out";
    case Note::Kind::Decide:
      return "to decide";
  }
  throw Error("failed describing a note: unknown kind");
}

void print_notes(const std::vector<Note>& notes) {
  for (const auto kind : {Note::Kind::Taken, Note::Kind::Changed, Note::Kind::Guessed, Note::Kind::LeftOut, Note::Kind::Decide}) {
    for (const Note& note : notes) {
      if (note.kind == kind) base::print("  {}: {}: {}\n", text_of(kind), note.about, note.text);
    }
  }
}

json folder_json(const importing::ImportedTemplate& made, const std::string& folder) {
  json notes = json::array();
  for (const Note& note : made.kernel.notes) notes.push_back({{"what", text_of(note.kind)}, {"about", note.about}, {"text", note.text}});
  return {{"template", made.kernel.name},
          {"folder", folder},
          {"files", names_of(made)},
          {"kernel", made.kernel.kernel},
          {"parameters", made.kernel.parameters.size()},
          {"conditions", made.kernel.constraints.size()},
          {"arguments", made.kernel.arguments.size()},
          {"notes", notes}};
}

void print_next_step(const std::string& folder) {
  const bool is_path = folder.find('/') != std::string::npos;  // a bare name would be that of a built-in template
  base::print("attune template check {}{} counts its space and compiles it\n", folder, is_path ? "" : "/");
}

}  // namespace attune::tools
