#pragma once
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/integration/cli_fixture.hpp"
#include "tests/support/cuda_sources.hpp"

namespace attune::test {

/// `attune template init` in a folder that has some sources.
struct Init : Cli {
  Init() {
    write("saxpy.cu", kSaxpyCuda);
    write("stencil.cu", kStencilCuda);
    write("sum.cu", kSumCuda);
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (folder / name).string(); }
  [[nodiscard]] CommandResult init(const std::string& file, const std::string& out, const std::vector<std::string>& more = {}) const {
    std::vector<std::string> words = {"template", "init", path(file), "-o", path(out)};
    words.insert(words.end(), more.begin(), more.end());
    return attune(words);
  }
  /// A template that passes the check, with this in what the check says. The source is copied as it is.
  void makes(const std::string& file, const std::string& out, const std::vector<std::string>& told, const std::string& checked) const {
    makes_changed(file, out, told, checked);
    CHECK(read(out + "/" + file) == read(file));
  }
  /// The same of a source whose copy is another.
  void makes_changed(const std::string& file, const std::string& out, const std::vector<std::string>& told,
                     const std::string& checked) const {
    const auto made = init(file, out);
    CAPTURE(made.out + made.err);
    REQUIRE(made.exit_code == 0);
    for (const std::string& line : told) {
      CAPTURE(line);
      CHECK(made.out.find(line) != std::string::npos);
    }
    const auto check = attune({"template", "check", path(out)});
    CAPTURE(check.out + check.err);
    CAPTURE(read(out + "/template.json"));
    CHECK(check.exit_code == 0);
    CHECK(check.out.find(checked) != std::string::npos);
  }
  /// Refused with this in the message, and nothing written.
  void refuses(const std::string& source, int code, const std::string& message, const std::vector<std::string>& more = {}) const {
    write("wrong.cu", source);
    const auto result = init("wrong.cu", "made", more);
    CAPTURE(result.out + result.err);
    CHECK(result.exit_code == code);
    CHECK(result.err.find(message) != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(folder / "made"));
  }
};

}  // namespace attune::test
