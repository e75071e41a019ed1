#include "tools/fleet/shard_goal.hpp"

#include <sstream>
#include <utility>

#include "tools/fleet/plan_files.hpp"

namespace attune::tools {

std::set<std::string> planned_problems(const std::filesystem::path& folder, const ShardEntry& entry) {
  std::set<std::string> problems;
  std::istringstream lines(read_shard_problems(folder, entry));
  for (std::string line; std::getline(lines, line);) problems.insert(std::move(line));
  return problems;
}

std::set<std::string> unfinished_of(std::set<std::string> problems, const Manifest& manifest, const db::Database& database) {
  for (const auto& session : database.sessions(records_of_plan(manifest))) {
    if (session.state == "finished") problems.erase(session.problem);
  }
  return problems;
}

db::Query records_of_plan(const Manifest& manifest) {
  db::Query query;
  query.template_hash = manifest.template_hash;
  query.policy = manifest.options.policy;
  return query;
}

}  // namespace attune::tools
