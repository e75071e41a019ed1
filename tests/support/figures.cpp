#include "tests/support/figures.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>

#include "tuner/base/json.hpp"
#include "tuner/base/text.hpp"

namespace attune::test {

void record_figures(int promise, const std::string& name, const nlohmann::json& figures) {
  const char* const folder = std::getenv("ATTUNE_FIGURES");
  if (folder == nullptr || folder[0] == '\0') return;
  std::filesystem::create_directories(folder);
  const std::filesystem::path path = std::filesystem::path(folder) / fmt::format("{:02}_{}.json", promise, name);
  std::ofstream file(path);
  file << base::dump_json(nlohmann::json{{"promise", promise}, {"date", base::utc_now()}, {"figures", figures}}, 2) << '\n';
  file.close();
  if (!file) throw std::runtime_error("failed writing " + path.string());
}

bool full_campaign() {
  const char* const campaign = std::getenv("ATTUNE_CAMPAIGN");
  return campaign != nullptr && std::string(campaign) == "full";
}

}  // namespace attune::test
