#pragma once
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace attune::tools::doctor {

enum class State {
  Fine,
  Note,   ///< works, but the owner may want to know: figures may suffer, or something is not used
  Wrong,  ///< something that tuning needs does not work
};

/// One thing that was looked at.
struct Finding {
  std::string area;  ///< "driver", "compiler", ...
  State state = State::Fine;
  std::string text;  ///< what was found
  std::string mend;  ///< what to do, a command where there is one; empty where nothing need be done
};

using Findings = std::vector<Finding>;

[[nodiscard]] nlohmann::json to_json(const Finding& finding);

/// What the checks of one area have in common.
class Area {
 public:
  Area(std::string name, Findings& findings) : name_(std::move(name)), findings_(findings) {}
  void fine(std::string text) { add(State::Fine, std::move(text), {}); }
  void note(std::string text, std::string mend = {}) { add(State::Note, std::move(text), std::move(mend)); }
  void wrong(std::string text, std::string mend) { add(State::Wrong, std::move(text), std::move(mend)); }

 private:
  void add(State state, std::string text, std::string mend) { findings_.push_back({name_, state, std::move(text), std::move(mend)}); }
  std::string name_;
  Findings& findings_;
};

}  // namespace attune::tools::doctor
