#pragma once
#include <stdexcept>
#include <string>

namespace attune {

/// Process exit codes of the `attune` command; one per class of failure (README lists them).
enum class ExitCode : int {
  Ok = 0,
  Internal = 1,      ///< A defect of attune, or a failure no other class covers.
  Usage = 2,         ///< Wrong arguments: unknown template, parameter, type, option, malformed size; no such file.
  Spec = 3,          ///< A malformed or contradictory template, expression, recording or exchange file.
  Environment = 4,   ///< No driver, no device, no NVRTC, no worker executable, not enough memory.
  Database = 5,      ///< The database cannot be opened, is newer than this build, cannot be written, or is damaged.
  NothingValid = 6,  ///< The search space is empty, or no configuration compiled, ran and verified.
  Interrupted = 130  ///< Ctrl-C; everything measured so far is stored.
};

/// Base of everything attune throws: misuse or a failure of the environment. A configuration that fails is no
/// exception but an Outcome (tuner/measure/measurement.hpp).
/// The message reads "failed <verb>ing <object>: <call> returned <NAME> (<meaning>); <remedy>".
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, ExitCode code = ExitCode::Internal) : std::runtime_error(message), code_(code) {}
  [[nodiscard]] ExitCode exit_code() const noexcept { return code_; }

 private:
  ExitCode code_;
};

/// The caller asked for something that does not exist or makes no sense.
class UsageError : public Error {
 public:
  explicit UsageError(const std::string& message) : Error(message, ExitCode::Usage) {}
};

/// Options::on_miss is Error, and nothing near the asked sizes was tuned on this device.
class NotTunedError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// Ranks cannot agree (Options::agree): they are out of step, have another version of a template or of attune, or what was gathered from
/// them is no such text. Nothing was launched.
class AgreementError : public UsageError {
 public:
  using UsageError::UsageError;
};

/// The machine lacks something: driver, device, NVRTC, worker executable, memory.
class EnvironmentError : public Error {
 public:
  explicit EnvironmentError(const std::string& message) : Error(message, ExitCode::Environment) {}
};

/// A text that attune reads is malformed. `what()` starts with "file:line:column: ".
/// Units: line and column count from 1; 0 means the whole file.
class SpecError : public Error {
 public:
  SpecError(const std::string& file, int line, int column, const std::string& message)
      : Error(located(file, line, column, message), ExitCode::Spec), file_(file), line_(line), column_(column) {}
  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] int line() const noexcept { return line_; }
  [[nodiscard]] int column() const noexcept { return column_; }

 private:
  static std::string located(const std::string& file, int line, int column, const std::string& message) {
    std::string text = file;  // appended, not added: GCC 12 warns of overlapping copies in chains of operator+
    if (line > 0) text.append(":").append(std::to_string(line)).append(":").append(std::to_string(column));
    return text.append(": ").append(message);
  }

  std::string file_;
  int line_;
  int column_;
};

/// The tuning database refused; `path()` names the file.
class DatabaseError : public Error {
 public:
  DatabaseError(const std::string& path, const std::string& message) : Error(message, ExitCode::Database), path_(path) {}
  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

/// A CUDA driver call failed. `result()` is the CUresult.
class CudaError : public Error {
 public:
  CudaError(int result, const std::string& call, const std::string& message)
      : Error(message, ExitCode::Environment), result_(result), call_(call) {}
  [[nodiscard]] int result() const noexcept { return result_; }
  [[nodiscard]] const std::string& call() const noexcept { return call_; }

 private:
  int result_;
  std::string call_;
};

/// NVRTC rejected a source where a value was required; carries the compiler's log.
class CompileError : public Error {
 public:
  CompileError(const std::string& message, const std::string& log) : Error(message, ExitCode::Spec), log_(log) {}
  [[nodiscard]] const std::string& log() const noexcept { return log_; }

 private:
  std::string log_;
};

}  // namespace attune
