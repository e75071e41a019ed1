#include "tuner/base/kernel_symbol.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "attune/error.hpp"
#include "tuner/base/characters.hpp"
#include "tuner/base/text.hpp"

namespace attune::base {
namespace {

/// Of a template argument that is not read (a type by reference to an earlier part of the symbol, a function): any will do.
constexpr std::string_view kAnything = "?";
constexpr int kMostDepth = 16;
constexpr std::size_t kMostShown = 200;

/// A function as its symbol or a launch names it.
struct KernelName {
  std::vector<std::string> scopes;  ///< namespaces, the outermost first
  std::string name;
  std::vector<std::string> arguments;  ///< of the template
  bool is_template = false;

  /// How many arguments may be any, the least first: the clearest of several. One whose list was not read is the least clear.
  [[nodiscard]] std::ptrdiff_t unread() const {
    if (is_template && arguments.empty()) return std::numeric_limits<std::ptrdiff_t>::max();
    return std::count(arguments.begin(), arguments.end(), kAnything);
  }
};

/// The types that have a letter of their own.
constexpr std::array<std::pair<char, const char*>, 15> kLetters = {{{'b', "bool"},
                                                                    {'c', "char"},
                                                                    {'a', "signed char"},
                                                                    {'h', "unsigned char"},
                                                                    {'s', "short"},
                                                                    {'t', "unsigned short"},
                                                                    {'i', "int"},
                                                                    {'j', "unsigned int"},
                                                                    {'l', "long"},
                                                                    {'m', "unsigned long"},
                                                                    {'x', "long long"},
                                                                    {'y', "unsigned long long"},
                                                                    {'f', "float"},
                                                                    {'d', "double"},
                                                                    {'v', "void"}}};

/// Reads the name of a function, and the arguments of its template, out of a symbol of the Itanium C++ ABI; not what stands behind them,
/// the types of what it is called with. Takes time and makes text in proportion to the symbol: a demangler follows references to earlier
/// parts, and a name of 500 bytes can be made to fill the memory.
/// Source: Itanium C++ ABI, "Mangling"
class SymbolReader {
 public:
  explicit SymbolReader(std::string_view text) : text_(text) {}

  /// Nothing where it is no symbol of a function in namespaces.
  std::optional<KernelName> run() {
    if (!accept("_Z")) return std::nullopt;
    KernelName found;
    const bool nested = accept("N");
    do {
      auto name = source_name();
      if (!name) return std::nullopt;
      if (!found.name.empty()) found.scopes.push_back(std::exchange(found.name, ""));
      found.name = *std::move(name);
    } while (nested && !at("E") && !at("I"));
    found.is_template = at("I");
    if (found.is_template) found.arguments = arguments(0).value_or(std::vector<std::string>{});
    // Nobody names it: what it holds is named as if it stood around it.
    std::erase_if(found.scopes, [](const std::string& scope) { return scope.starts_with("_GLOBAL__N"); });
    return found;
  }

 private:
  [[nodiscard]] bool at(std::string_view what) const { return text_.substr(at_).starts_with(what); }
  bool accept(std::string_view what) {
    if (!at(what)) return false;
    at_ += what.size();
    return true;
  }
  static bool is_of_number(char c) { return is_digit(c) || (c >= 'A' && c <= 'Z'); }
  [[nodiscard]] bool at_digit() const { return at_ < text_.size() && is_digit(text_[at_]); }

  std::optional<std::string> source_name() {
    std::size_t length = 0;
    const auto read = std::from_chars(text_.data() + at_, text_.data() + text_.size(), length);
    if (!at_digit() || read.ec != std::errc()) return std::nullopt;
    at_ = static_cast<std::size_t>(read.ptr - text_.data());
    if (length > text_.size() - at_) return std::nullopt;
    at_ += length;
    return std::string(text_.substr(at_ - length, length));
  }

  /// Nothing where one of them is not read, since where it ends is not known.
  std::optional<std::vector<std::string>> arguments(int depth) {
    std::vector<std::string> found;
    if (depth > kMostDepth || !accept("I")) return std::nullopt;
    while (!accept("E")) {
      auto argument = at("L") ? literal() : type(depth);
      if (!argument) return std::nullopt;
      found.push_back(*std::move(argument));
    }
    return found;
  }

  /// A number, of whatever type: "Lj7E" is 7, "Lin4E" is -4, "Lb1E" is 1, "L4Mode1E" is 1.
  std::optional<std::string> literal() {
    if (!accept("L") || !type(kMostDepth)) return std::nullopt;
    std::string value = accept("n") ? "-" : "";
    while (at_digit()) value += text_[at_++];
    if (!accept("E")) return std::nullopt;
    return value;
  }

  std::optional<std::string> type(int depth) {
    std::string around;
    for (;;) {
      if (accept("P"))
        around += " *";
      else if (accept("K"))
        around += " const";
      else
        break;
    }
    if (at_ >= text_.size()) return std::nullopt;
    if (accept("S")) {
      // Its number is of digits and capitals. What else follows is a name of the standard library, "St4pairIffE", which is not read.
      while (at_ < text_.size() && is_of_number(text_[at_])) ++at_;
      if (!accept("_")) return std::nullopt;
      return std::string(kAnything);
    }
    if (at_digit()) {
      auto name = source_name();
      if (!name) return std::nullopt;
      if (at("I") && !arguments(depth + 1)) return std::nullopt;
      return *name + around;
    }
    const auto* const letter = std::find_if(kLetters.begin(), kLetters.end(), [&](const auto& known) { return known.first == text_[at_]; });
    if (letter == kLetters.end()) return std::nullopt;
    ++at_;
    return letter->second + around;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

/// "ns::gemm<128, true, float>" in its parts.
KernelName read_asked(std::string_view text) {
  KernelName asked;
  const std::size_t open = std::min(text.find('<'), text.size());
  std::string_view name = text.substr(0, open);
  for (std::size_t at = name.find("::"); at != std::string_view::npos; at = name.find("::")) {
    asked.scopes.emplace_back(name.substr(0, at));
    name.remove_prefix(at + 2);
  }
  asked.name = name;
  asked.is_template = open < text.size();
  if (!asked.is_template) return asked;
  std::string_view list = text.substr(open + 1, text.rfind('>') - open - 1);
  for (;;) {
    const std::size_t comma = std::min(list.find(','), list.size());
    asked.arguments.emplace_back(trimmed(list.substr(0, comma)));
    if (comma == list.size()) return asked;
    list.remove_prefix(comma + 1);
  }
}

/// One form for what may be written in several: the words of a type in order of the alphabet, truth values as numbers.
std::string plain(std::string_view argument) {
  if (argument == "true" || argument == "false") argument = argument == "true" ? "1" : "0";
  std::vector<std::string> words(1);
  for (const char c : argument) {
    if (c == ' ' || c == '*')
      words.insert(words.end(), {std::string(c == '*' ? "*" : ""), ""});
    else
      words.back() += c;
  }
  std::sort(words.begin(), words.end());
  std::string text;
  for (const std::string& word : words) text += word.empty() ? "" : word + ' ';
  return text;
}

/// Whether all of `part` are in `whole`, in this order. Which namespaces are inline no symbol says: any may be left out.
bool are_among(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
  auto next = whole.begin();
  return std::all_of(part.begin(), part.end(), [&](const std::string& scope) {
    next = std::find(next, whole.end(), scope);
    return next != whole.end() && next++ != whole.end();
  });
}

bool is_called(const KernelName& kernel, const KernelName& asked) {
  return kernel.name == asked.name && kernel.is_template == asked.is_template && are_among(asked.scopes, kernel.scopes);
}

/// What is not named stands at its default.
bool has_arguments(const KernelName& kernel, const KernelName& asked) {
  for (std::size_t i = 0; i < std::min(kernel.arguments.size(), asked.arguments.size()); ++i) {
    if (kernel.arguments[i] != kAnything && plain(kernel.arguments[i]) != plain(asked.arguments[i])) return false;
  }
  return kernel.arguments.empty() || asked.arguments.size() <= kernel.arguments.size();
}

}  // namespace

std::string shown_kernel(const std::string& symbol) {
  const auto kernel = SymbolReader(symbol).run();
  if (!kernel) return symbol.substr(0, kMostShown);
  std::string text;
  for (const std::string& scope : kernel->scopes) text += scope + "::";
  text += kernel->name;
  for (std::size_t i = 0; i < kernel->arguments.size(); ++i) text += (i == 0 ? "<" : ", ") + kernel->arguments[i];
  if (kernel->is_template) text += kernel->arguments.empty() ? "<...>" : ">";
  return text.substr(0, kMostShown);
}

std::string kernel_symbol(const std::vector<std::string>& symbols, const std::string& asked) {
  if (std::find(symbols.begin(), symbols.end(), asked) != symbols.end()) return asked;
  const KernelName wanted = read_asked(asked);
  std::vector<std::pair<std::string, KernelName>> found;
  for (const std::string& symbol : symbols) {
    auto kernel = SymbolReader(symbol).run();
    if (kernel && is_called(*kernel, wanted)) found.emplace_back(symbol, *std::move(kernel));
  }
  // A name without a namespace is that of a function outside of all, where there is one.
  const auto in_namespace = [](const auto& one) { return !one.second.scopes.empty(); };
  if (wanted.scopes.empty() && !std::all_of(found.begin(), found.end(), in_namespace)) std::erase_if(found, in_namespace);
  // One alone is meant, however its arguments are spelt: by an alias, an enumerator, a macro.
  if (found.size() > 1) std::erase_if(found, [&](const auto& one) { return !has_arguments(one.second, wanted); });
  std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.second.unread() < b.second.unread(); });
  if (found.size() > 1 && found[0].second.unread() < found[1].second.unread()) found.resize(1);
  if (found.size() <= 1) return found.empty() ? "" : found.front().first;
  throw Error(fmt::format("failed finding kernel \"{}\": several functions of that name are compiled ({} and {}); name it with its "
                          "namespace, rename one, or declare one extern \"C\" __global__",
                          asked, found[0].first.substr(0, kMostShown), found[1].first.substr(0, kMostShown)),
              ExitCode::Spec);
}

}  // namespace attune::base
