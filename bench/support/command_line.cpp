#include "bench/support/command_line.hpp"

#include <fmt/core.h>

#include <CLI/CLI.hpp>

#include "attune/error.hpp"
#include "tuner/base/terminal.hpp"
#include "tuner/base/text.hpp"

namespace attune::bench {

struct CommandLine::Application {
  CLI::App app;
};

namespace {

CLI::Option& of(void* option) { return *static_cast<CLI::Option*>(option); }

}  // namespace

CommandLine::Option& CommandLine::Option::with_default() {
  of(option_).capture_default_str();
  return *this;
}

CommandLine::Option& CommandLine::Option::within(int low, int high) {
  of(option_).check(CLI::Range(low, high));
  return *this;
}

CommandLine::Option& CommandLine::Option::among(const std::vector<std::string>& words) {
  of(option_).check(CLI::IsMember(words));
  return *this;
}

CommandLine::Option& CommandLine::Option::separated_by(char separator) {
  of(option_).delimiter(separator);
  return *this;
}

CommandLine::Option& CommandLine::Option::one_at_a_time() {
  of(option_).allow_extra_args(false);
  return *this;
}

CommandLine::Option& CommandLine::Option::last() {
  of(option_).take_last();
  return *this;
}

CommandLine::Option& CommandLine::Option::hidden() {
  of(option_).group("");
  return *this;
}

CommandLine::CommandLine(const std::string& purpose) : application_(new Application{CLI::App(purpose)}) {}

CommandLine::~CommandLine() = default;

CommandLine::Option CommandLine::option(const std::string& name, std::string& value, const std::string& help) {
  return Option(application_->app.add_option(name, value, help));
}

CommandLine::Option CommandLine::option(const std::string& name, std::filesystem::path& value, const std::string& help) {
  return Option(application_->app.add_option(name, value, help));
}

CommandLine::Option CommandLine::option(const std::string& name, int& value, const std::string& help) {
  return Option(application_->app.add_option(name, value, help));
}

CommandLine::Option CommandLine::option(const std::string& name, double& value, const std::string& help) {
  return Option(application_->app.add_option(name, value, help));
}

CommandLine::Option CommandLine::option(const std::string& name, std::uint64_t& value, const std::string& help) {
  return Option(
      application_->app.add_option(name, value, help)->check([](const std::string& word) { return base::whole_number_fault(word); }));
}

CommandLine::Option CommandLine::option(const std::string& name, std::vector<std::string>& value, const std::string& help) {
  return Option(application_->app.add_option(name, value, help));
}

CommandLine::Option CommandLine::option(const std::string& name, std::vector<std::filesystem::path>& value, const std::string& help) {
  return Option(application_->app.add_option(name, value, help));
}

CommandLine::Option CommandLine::option(const std::string& name, std::vector<int>& value, const std::string& help) {
  return Option(application_->app.add_option(name, value, help));
}

CommandLine::Option CommandLine::option(const std::string& name, std::vector<std::uint64_t>& value, const std::string& help) {
  return Option(application_->app.add_option(name, value, help));
}

void CommandLine::flag(const std::string& name, bool& value, const std::string& help) { application_->app.add_flag(name, value, help); }

std::optional<int> CommandLine::parse(int argc, char** argv) {
  try {
    application_->app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return application_->app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::Usage);
  }
  return std::nullopt;
}

int CommandLine::run(int argc, char** argv, const std::function<int()>& body) {
  if (const auto ended = parse(argc, argv)) return *ended;
  const std::string program = std::filesystem::path(argv[0]).filename().string();
  try {
    return body();
  } catch (const Error& error) {
    base::tell("{}: {}\n", program, base::Lines{error.what()});
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    base::tell("{}: {}\n", program, base::Lines{error.what()});
    return 1;
  }
}

}  // namespace attune::bench
