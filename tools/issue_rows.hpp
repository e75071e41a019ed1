#pragma once
#include <map>
#include <string>

#include "db/database.hpp"

namespace attune::tools {

// What a report of a bug tells of a database, as text: every line of a block is indented, so that nothing in it is markup.

/// "    one\n    two\n".
[[nodiscard]] std::string indented(const std::string& text);

/// The failures that were recorded last, with their logs; with `sources` what was compiled. `template_name` empty: of all.
[[nodiscard]] std::string last_failures(const db::Database& database, const std::string& template_name, bool sources);

/// The runs that were begun last: what, how, and how they ended. Hosts and processes are left out.
[[nodiscard]] std::string last_sessions(const db::Database& database);

/// Whether a row names this template. A template's own row may be damaged.
[[nodiscard]] bool holds_template(const db::Database& database, const std::string& template_name);

/// Whether a session, a best row or a record of the template (empty: of any) is of a problem with these values.
[[nodiscard]] bool holds_problem(const db::Database& database, const std::string& template_name,
                                 const std::map<std::string, std::string>& problem);

/// Best rows and records of a template (empty: of all) whose problem has these values, as JSON, a line each.
[[nodiscard]] std::string rows_text(const db::Database& database, const std::string& template_name,
                                    const std::map<std::string, std::string>& problem);

}  // namespace attune::tools
