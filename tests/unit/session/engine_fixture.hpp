#pragma once
// The tuning loop on made-up GPUs, over a space that is large for the small template.
#include <SQLiteCpp/Database.h>
#include <doctest/doctest.h>

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tests/support/synthetic_recording.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/unit/session/made_up_gpu.hpp"
#include "tuner/base/json.hpp"
#include "tuner/session/tune/session.hpp"
#include "tuner/space/search_space.hpp"

namespace attune::test {

/// The small template with twenty values of "waves": 11 x 20 configurations.
inline spec::KernelTemplate wide_template() {
  std::string text = small_template_json();
  const std::string from = R"("waves": {"values": [1, 2])";
  text.replace(text.find(from), from.size(), R"("waves": {"values": [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20])");
  return spec::KernelTemplate::parse(text, {{"double_it.cu", small_template_source()}}, "double_it/template.json");
}

/// A database of its own, a space of that template, and made-up GPUs to tune it on.
struct Engine {
  TempFolder folder;
  spec::KernelTemplate kernel = wide_template();
  session::TuneRequest request;
  session::Observer observer;
  std::vector<std::string> notices;
  std::vector<std::string> space;               ///< texts in the order of the ordinals
  std::map<std::string, std::size_t> ordinals;  ///< by text

  Engine() {
    request.problems = {small_problem(1000)};
    observer.notice = [this](const std::string& text) { notices.push_back(text); };
    const auto device = spec::DeviceInfo::of_architecture("sm_90");
    const auto built = space::SearchSpace::build(kernel, request.problems[0], device);
    for (space::Ordinal i = 0; i < built.size(); ++i) {
      space.push_back(spec::to_text(kernel, built.at(i)));
      ordinals[space.back()] = i;
    }
  }

  [[nodiscard]] std::filesystem::path path() const { return folder / "tune.db"; }
  [[nodiscard]] db::Database open() const { return db::Database::open(path(), db::OpenMode::ReadWrite); }
  session::ProblemResult tune(MadeUpGpu& gpu) {
    auto database = open();
    return session::tune(kernel, request, gpu, database, observer).problems.at(0);
  }
  [[nodiscard]] nlohmann::json summary() const { return base::parse_json(open().sessions({}).back().summary_json); }
  void change_database(const std::string& sql) const {
    SQLite::Database raw(path().string(), SQLite::OPEN_READWRITE);
    REQUIRE(raw.exec(sql) > 0);
  }

  /// 10 us and a little more by ordinal, intervals of 0.05 us to both sides; those named are 5 us plus what is given,
  /// with 0.01 us.
  [[nodiscard]] MadeUpGpu::Measure fast_ones(const std::map<std::size_t, double>& fast) const {
    return [this, fast](const std::string& text) {
      const std::size_t ordinal = ordinals.at(text);
      const auto found = fast.find(ordinal);
      if (found != fast.end()) return works(text, 5 + found->second, 0.01);
      return works(text, 10 + 0.001 * static_cast<double>(ordinal), 0.05);
    };
  }
};

}  // namespace attune::test
