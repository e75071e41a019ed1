#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace attune::bench {

/// The options of a benchmark or a test program. CLI11 behind functions, so that it is compiled once for all of them.
class CommandLine {
 public:
  /// Further properties of one option.
  class Option {
   public:
    Option& with_default();  ///< the help tells what stands in the variable
    Option& within(int low, int high);
    Option& among(const std::vector<std::string>& words);
    Option& separated_by(char separator);
    Option& one_at_a_time();  ///< takes one word; may be repeated
    Option& last();           ///< given several times, the last counts
    Option& hidden();

   private:
    friend class CommandLine;
    explicit Option(void* option) : option_(option) {}
    void* option_;  ///< CLI::Option, owned by the command line
  };

  explicit CommandLine(const std::string& purpose);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  // What stands in `value` stays where the option is not given. A name without dashes is positional.
  Option option(const std::string& name, std::string& value, const std::string& help = "");
  Option option(const std::string& name, std::filesystem::path& value, const std::string& help = "");
  Option option(const std::string& name, int& value, const std::string& help = "");
  Option option(const std::string& name, double& value, const std::string& help = "");
  Option option(const std::string& name, std::uint64_t& value, const std::string& help = "");
  Option option(const std::string& name, std::vector<std::string>& value, const std::string& help = "");
  Option option(const std::string& name, std::vector<std::filesystem::path>& value, const std::string& help = "");
  Option option(const std::string& name, std::vector<int>& value, const std::string& help = "");
  Option option(const std::string& name, std::vector<std::uint64_t>& value, const std::string& help = "");
  void flag(const std::string& name, bool& value, const std::string& help = "");

  /// The exit code of a program that is to end here: help was asked for, or an option is wrong, which was told.
  [[nodiscard]] std::optional<int> parse(int argc, char** argv);
  /// The whole of a benchmark: parses, then runs `body`. The exit code. Errors are told after the program's name.
  [[nodiscard]] int run(int argc, char** argv, const std::function<int()>& body);

 private:
  struct Application;
  std::unique_ptr<Application> application_;
};

}  // namespace attune::bench
