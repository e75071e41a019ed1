#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "db/database.hpp"
#include "tests/support/synthetic_recording.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/session/source/replay_backend.hpp"
#include "tuner/session/tune/session.hpp"

namespace attune::test {

/// 10 us and 1 us more for each step of the enumeration; `fast` takes 2 us.
inline auto times(const std::string& fast, std::uint64_t failing = ~std::uint64_t{0}) {
  return [=](const std::string& configuration, std::uint64_t i) {
    if (i == failing) return 0.0;
    return configuration == fast ? 2.0 : 10.0 + static_cast<double>(i);
  };
}

inline const std::string kFast = R"({"block_size":256,"items":2,"waves":2})";

/// A database of its own, and a recording of two problems in place of a GPU.
struct ReplayFixture {
  TempFolder folder;
  spec::KernelTemplate kernel = small_template();
  std::vector<spec::Problem> problems = {small_problem(1000), small_problem(100000)};
  db::Database database = db::Database::open(folder / "tune.db", db::OpenMode::ReadWrite);

  session::ReplayBackend backend(std::uint64_t failing = ~std::uint64_t{0}) const {
    return {synthetic_recording(kernel, problems, times(kFast, failing)), "synthetic.json.zst", kernel};
  }
  session::TuneRequest request() const {
    session::TuneRequest request;
    request.problems = problems;
    return request;
  }
};

}  // namespace attune::test
