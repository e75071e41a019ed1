#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "tuner/compile/compiler.hpp"

namespace attune::tools {

/// What a command line compiles with: NVIDIA's offline compiler, or NVRTC through `attune compile`.
enum class Compiler { Nvcc, Nvrtc };
/// "nvcc" or "nvrtc". Throws: UsageError.
[[nodiscard]] Compiler compiler_from_text(const std::string& text);

/// The options of NVRTC (compile::full_options) in nvcc's language. nvcc knows most of them under the same names. Left out is what it has
/// no name for: -default-device, --no-cache, --modify-stack-limit, and what allows a feature that it always has.
[[nodiscard]] std::vector<std::string> nvcc_options(const std::vector<std::string>& nvrtc_options);

/// Where the programs and headers of a command line lie.
struct CompilerPlaces {
  std::string nvcc = "nvcc";
  std::string attune = "attune";
  std::vector<std::string> include_folders;
};
/// Those of the NVRTC that this machine has: its header folders, and the nvcc of the same toolkit where there is one.
/// Throws: EnvironmentError without NVRTC.
[[nodiscard]] CompilerPlaces compiler_places(const std::filesystem::path& executable);

/// A line for a shell that compiles the request's source to `<template>.cubin`, out of `file`; empty: out of standard input.
[[nodiscard]] std::string command_line(Compiler compiler, const compile::CompileRequest& request, const std::string& file,
                                       const CompilerPlaces& places);

}  // namespace attune::tools
