#pragma once
#include <map>
#include <string>

#include "tools/commands.hpp"

namespace attune::tools {

/// What `attune report --issue` puts together.
struct IssueOptions {
  std::string output;                          ///< empty: attune-issue-<date>.md here
  std::string database;                        ///< empty: by the default rules
  std::string template_name;                   ///< failures and rows of it alone; empty: of all
  std::map<std::string, std::string> problem;  ///< rows of problems with these axes, even without `rows`
  bool sources = false;                        ///< the kernels that failed, as they were compiled
  bool rows = false;                           ///< records and best rows
};

/// Writes what a report of a bug needs into one text that a person can read before sending it; nothing is sent. What is wrong with the
/// machine or the database is a part of it, not an error. Returns the exit code.
/// Throws: UsageError where the template or the problem is neither stored nor known, where the file is there already; as
/// write_output_target.
int report_issue(const IssueOptions& options, const CommandContext& context);

}  // namespace attune::tools
