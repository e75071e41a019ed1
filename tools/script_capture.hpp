#pragma once
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace attune::tools {

/// One call of tune_kernel.
struct CapturedCall {
  std::string kernel;
  std::filesystem::path file;         ///< T1, beside the kernel's source
  std::vector<std::string> notes;     ///< what became of what the call says
  std::vector<std::string> problems;  ///< why it can become no template; empty where it can
};

/// What a Python script asks Kernel Tuner for.
struct CapturedScript {
  std::vector<CapturedCall> calls;  ///< at least one
  std::string ended;                ///< the error that ended the script behind them, with its place; empty: none
};

/// Runs a script of Kernel Tuner with a stand-in for that package (tools/python/kernel_tuner), so that nothing is tuned, and writes what it
/// asks for into `folder`, with the arrays that a template needs, but for those of more than `largest_array_mib`. What the script prints
/// goes to standard error. The interpreter is $ATTUNE_PYTHON, or python3. Throws: UsageError or SpecError with the script's place and the
/// remedy when it cannot be read or tunes nothing; EnvironmentError when Python, the stand-in, or a package that the script needs is not
/// there.
[[nodiscard]] CapturedScript capture_script(const std::filesystem::path& script, const std::vector<std::string>& arguments,
                                            const std::filesystem::path& folder, std::int64_t largest_array_mib);

}  // namespace attune::tools
