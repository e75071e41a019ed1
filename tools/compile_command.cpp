#include "tools/compile_command.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <regex>
#include <set>
#include <string_view>
#include <system_error>

#include "attune/error.hpp"
#include "tuner/base/escape.hpp"
#include "tuner/compile/nvrtc_library.hpp"

namespace attune::tools {
namespace {

/// Options of NVRTC without a name in nvcc. The first three are about compiling inside of a program; device code of nvcc has 128-bit types
/// and the two builtins, and no smaller set of features.
constexpr std::array<std::string_view, 12> kUnknownToNvcc = {"-default-device",
                                                             "--no-cache",
                                                             "--modify-stack-limit",
                                                             "--device-int128",
                                                             "-device-int128",
                                                             "--device-float128",
                                                             "-device-float128",
                                                             "--minimal",
                                                             "-minimal",
                                                             "--builtin-move-forward",
                                                             "-builtin-move-forward",
                                                             "--builtin-initializer-list"};

bool known_to_nvcc(const std::string& option) {
  const std::string_view name = std::string_view(option).substr(0, option.find('='));
  return name != "-builtin-initializer-list" && std::find(kUnknownToNvcc.begin(), kUnknownToNvcc.end(), name) == kUnknownToNvcc.end();
}

std::string joined_words(const std::vector<std::string>& words) {
  std::string line;
  for (const auto& word : words) line += (line.empty() ? "" : " ") + base::shell_quoted(word);
  return line;
}

/// Macros behind `#pragma unroll`, as -DNAME=number. nvcc leaves a pragma to its device compiler as it stands, and macros to a preprocessor
/// before that one: it takes the name for an unknown identifier then.
std::set<std::string> unrolling_macros(const std::string& source) {
  static const std::regex pragma("#[ \t]*pragma[ \t]+unroll[ \t(]+([^\n]*)"), name("[A-Za-z_][A-Za-z0-9_]*");
  std::set<std::string> macros;
  for (std::sregex_iterator at(source.begin(), source.end(), pragma), end; at != end; ++at) {
    const std::string count = (*at)[1];
    for (std::sregex_iterator word(count.begin(), count.end(), name); word != end; ++word) {
      std::smatch defined;
      const std::regex definition("#define " + word->str() + " ([0-9]+)\n");
      if (std::regex_search(source, defined, definition)) macros.insert("-D" + word->str() + "=" + defined[1].str());
    }
  }
  return macros;
}

/// "reduce.cubin" of "reduce.cu".
std::string cubin_name(const std::string& source_name) { return std::filesystem::path(source_name).replace_extension(".cubin").string(); }

std::vector<std::string> nvcc_words(const compile::CompileRequest& request, const std::string& file, const CompilerPlaces& places) {
  std::vector<std::string> words{places.nvcc, "-x", "cu", "-cubin"};
  const auto options = nvcc_options(compile::full_options(request));
  words.insert(words.end(), options.begin(), options.end());
  for (const auto& macro : unrolling_macros(request.source)) words.insert(words.end(), {"-Xcudafe", macro});
  for (const auto& folder : places.include_folders) words.push_back("-I" + folder);
  words.insert(words.end(), {"-o", cubin_name(request.name), file.empty() ? "-" : file});
  return words;
}

/// NVRTC adds its own folders, as it does while tuning.
std::vector<std::string> nvrtc_words(const compile::CompileRequest& request, const std::string& file, const CompilerPlaces& places) {
  std::vector<std::string> words{places.attune, "compile", "--arch", request.architecture};
  for (const auto& option : request.options) words.push_back("--option=" + option);
  words.insert(words.end(), {"-o", cubin_name(request.name), file.empty() ? "-" : file});
  return words;
}

}  // namespace

Compiler compiler_from_text(const std::string& text) {
  if (text == "nvcc") return Compiler::Nvcc;
  if (text == "nvrtc") return Compiler::Nvrtc;
  throw UsageError(fmt::format("there is no command line for the compiler \"{}\"; name nvcc or nvrtc", text));
}

std::vector<std::string> nvcc_options(const std::vector<std::string>& nvrtc_options) {
  std::vector<std::string> options;
  std::copy_if(nvrtc_options.begin(), nvrtc_options.end(), std::back_inserter(options), known_to_nvcc);
  // NVRTC takes the last of two standards. nvcc does so too, with a warning: it is given the last one only.
  const auto is_standard = [](const std::string& option) { return option.starts_with("-std=") || option.starts_with("--std="); };
  const auto last = std::find_if(options.rbegin(), options.rend(), is_standard);
  if (last == options.rend()) return options;
  options.erase(std::remove_if(options.begin(), last.base() - 1, is_standard), last.base() - 1);
  return options;
}

CompilerPlaces compiler_places(const std::filesystem::path& executable) {
  CompilerPlaces places;
  places.attune = executable.string();
  for (const auto& folder : compile::load_nvrtc().include_folders) {
    places.include_folders.push_back(folder.string());
    // <toolkit>/include, <toolkit>/targets/x86_64-linux/include and the folder of CCCL in them.
    for (auto above = folder.parent_path(); places.nvcc == "nvcc" && above != above.root_path(); above = above.parent_path()) {
      std::error_code error;
      if (std::filesystem::exists(above / "bin" / "nvcc", error)) places.nvcc = (above / "bin" / "nvcc").string();
    }
  }
  return places;
}

std::string command_line(Compiler compiler, const compile::CompileRequest& request, const std::string& file, const CompilerPlaces& places) {
  return joined_words(compiler == Compiler::Nvcc ? nvcc_words(request, file, places) : nvrtc_words(request, file, places));
}

}  // namespace attune::tools
