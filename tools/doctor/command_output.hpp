#pragma once
#include <chrono>
#include <string>
#include <vector>

namespace attune::tools::doctor {

/// What a program writes to its standard output until it closes that, or for so long; its errors are thrown away. Empty where there is no
/// such program. One that is still running then is killed, and left behind where that does not end it: in the kernel of a sick device it
/// cannot be ended by anybody, and whoever asks what is wrong with the machine must not hang with it.
[[nodiscard]] std::string output_of(const std::vector<std::string>& words, std::chrono::milliseconds patience);

}  // namespace attune::tools::doctor
