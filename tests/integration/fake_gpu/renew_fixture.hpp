#pragma once
// A template that changes, and renewals of what was tuned with it.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tests/integration/fake_gpu/fake_gpu.hpp"
#include "tuner/base/files.hpp"
#include "tuner/spec/kernel_template.hpp"

namespace attune::test {

/// A template of the user's own, in a folder of templates, and results of it.
struct RenewFixture : FakeGpu {
  RenewFixture() {
    std::filesystem::create_directories(templates);
    std::filesystem::copy(ATTUNE_SOURCE_DIR "/tests/support/fake_templates/brief", templates / "brief");
    std::filesystem::permissions(templates / "brief" / "template.json", std::filesystem::perms::owner_write,
                                 std::filesystem::perm_options::add);
  }

  void tune(const std::string& sizes, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"tune",   "brief", "--template-folder", templates, "--T", "i32", "--end", "well",
                                      "--size", sizes,   "--compile-workers", "2"};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = attune(words);
    CAPTURE(result.err);
    REQUIRE(result.exit_code == 0);
  }
  [[nodiscard]] CommandResult renew(const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"renew", "--template-folder", templates, "--compile-workers", "2"};
    words.insert(words.end(), more.begin(), more.end());
    return attune(words);
  }
  /// The event of this name in what a run with --json printed.
  [[nodiscard]] static nlohmann::json event(const CommandResult& result, const std::string& name) {
    for (const auto& one : json_lines(result.out)) {
      if (one["event"] == name) return one;
    }
    FAIL("there is no event ", name, ": ", result.out, result.err);
    return {};
  }
  /// What is to be renewed now.
  [[nodiscard]] nlohmann::json plan() const {
    const auto result = renew({"--dry-run", "--json"});
    REQUIRE(result.exit_code == 0);
    return event(result, "renewal");
  }
  void change_template(const std::string& from, const std::string& to) const {
    const std::filesystem::path file = templates / "brief" / "template.json";
    std::string text = base::read_file(file);
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    std::ofstream(file) << text.replace(at, from.size(), to);
  }
  [[nodiscard]] std::vector<db::BestRow> best() const { return db::Database::open(database, db::OpenMode::ReadOnly).best({}); }
  /// The problem's best row under the template's version as it is now.
  [[nodiscard]] db::BestRow newest(const std::string& problem) const {
    const std::string hash = spec::TemplateLibrary({templates}).find("brief").content_hash;
    const auto rows = best();
    const auto found =
        std::find_if(rows.begin(), rows.end(), [&](const auto& row) { return row.problem == problem && row.template_hash == hash; });
    REQUIRE(found != rows.end());
    return *found;
  }
  /// A configuration of the template.
  [[nodiscard]] static nlohmann::json configuration(int block_size, int waves) { return {{"block_size", block_size}, {"waves", waves}}; }

  const std::filesystem::path templates = folder / "templates";
};

}  // namespace attune::test
