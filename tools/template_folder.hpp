#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tuner/importing/import.hpp"

namespace attune::tools {

/// Before a template is made for a folder. `doing`: "importing a.json". Throws: UsageError where the folder has anything in it or is none,
/// EnvironmentError where it cannot be read.
void check_template_folder(const std::string& folder, const std::string& doing);
/// Writes template.json last: a folder is a template when it is there. Throws: EnvironmentError, Error(Interrupted); the folder is as it
/// was then.
void write_template_folder(const std::string& folder, const importing::ImportedTemplate& made);

/// "taken", "guessed", ...
[[nodiscard]] const char* text_of(importing::Note::Kind kind);
/// Notes a line each, kind by kind.
void print_notes(const std::vector<importing::Note>& notes);
/// What is common to the results of all commands that make a template.
[[nodiscard]] nlohmann::json folder_json(const importing::ImportedTemplate& made, const std::string& folder);
/// The command that checks the folder.
void print_next_step(const std::string& folder);

}  // namespace attune::tools
