#pragma once
// A small export, and lines of it that a forger edits.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "db/exchange_lines.hpp"
#include "tests/integration/exchange_fixture.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/base/json.hpp"

namespace attune::test {

using Lines = std::vector<std::string>;

inline std::string joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

/// A line with a checksum that matches, whatever it says.
inline std::string sealed(const nlohmann::json& object) {
  const std::string body = base::dump_json(object);
  return R"({"checksum":")" + base::content_key(body) + "\"," + body.substr(1);
}

inline nlohmann::json object_of(const std::string& line) {
  nlohmann::json object = base::parse_json(line);
  object.erase("checksum");
  return object;
}

inline std::string kind_of(const std::string& line) {
  const nlohmann::json object = object_of(line);
  return object.contains("kind") && object["kind"].is_string() ? object["kind"].get<std::string>() : std::string();
}

/// With counts and digest that match its rows: what a forger would send.
inline std::string closed(Lines lines) {
  base::ContentHasher digest;
  std::map<std::string, int> counts;
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    digest.add(db::checksum_of(lines[i]));
    ++counts[kind_of(lines[i])];
  }
  nlohmann::json end = object_of(lines.back());
  for (const auto& [kind, name] : {std::pair("device", "devices"), std::pair("template", "templates"), std::pair("session", "sessions"),
                                   std::pair("record", "records"), std::pair("best", "best")}) {
    end[name] = counts[kind];
  }
  end["digest"] = digest.key();
  lines.back() = sealed(end);
  return joined(lines);
}

/// A forger's lines: what a tuned problem exports, to be edited.
struct Forgery : Cli {
  Lines lines;

  Forgery() {
    // Small: every line is edited in many ways.
    REQUIRE(attune({"tune", kernel, "--T", "f32", "--size", "1000", "--replay", recording, "--db", database, "--budget", "6"}).exit_code ==
            0);
    REQUIRE(attune({"db", "export", (folder / "rows.jsonl").string()}).exit_code == 0);
    lines = lines_of(read("rows.jsonl"));
    for (const char* kind : {"device", "template", "session", "record", "best"}) {
      REQUIRE(std::any_of(lines.begin(), lines.end(), [&](const std::string& line) { return kind_of(line) == kind; }));
    }
  }

  [[nodiscard]] std::size_t first(const std::string& kind) const {
    return static_cast<std::size_t>(
        std::find_if(lines.begin(), lines.end(), [&](const std::string& line) { return kind_of(line) == kind; }) - lines.begin());
  }
};

}  // namespace attune::test
