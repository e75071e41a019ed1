#include "tools/redaction.hpp"

#include <fmt/format.h>
#include <pwd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string_view>

#include "tuner/base/hash.hpp"

namespace attune::tools {
namespace {

bool is_word(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

/// Whether the part of the text is not the middle of a longer word.
bool stands_alone(const std::string& text, std::size_t at, std::size_t length) {
  return (at == 0 || !is_word(text[at - 1])) && (at + length >= text.size() || !is_word(text[at + length]));
}

void replace_all(std::string& text, const std::string& name, const std::string& by) {
  const bool is_path = name.front() == '/';
  const auto same = [](char a, char b) { return lower(a) == lower(b); };
  for (std::size_t at = 0;;) {
    const auto found = is_path ? std::search(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), name.begin(), name.end())
                               : std::search(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), name.begin(), name.end(), same);
    if (found == text.end()) break;
    at = static_cast<std::size_t>(found - text.begin());
    const bool ends = at + name.size() >= text.size() || !is_word(text[at + name.size()]);
    const bool meant = is_path ? ends : stands_alone(text, at, name.size());
    if (meant) text.replace(at, name.size(), by);
    at += meant ? by.size() : name.size();
  }
}

/// ".cluster.example.org" behind a host's name, which says as much as the name. Of fewer labels it may be a file's ending.
void remove_domains_behind(std::string& text, const std::string& name) {
  constexpr int kLeastLabels = 2;
  for (std::size_t at = 0; (at = text.find(name, at)) != std::string::npos;) {
    const bool word = stands_alone(text, at, name.size());
    at += name.size();
    if (!word) continue;
    std::size_t end = at;
    int labels = 0;
    while (end + 1 < text.size() && text[end] == '.' && is_word(text[end + 1])) {
      ++labels;
      for (++end; end < text.size() && (is_word(text[end]) || text[end] == '-');) ++end;
    }
    if (labels >= kLeastLabels || text.compare(at, end - at, ".DOMAIN") == 0) text.erase(at, end - at);
  }
}

/// "https://user:token@host": the name of an index or a proxy may have them.
void replace_credentials(std::string& text) {
  constexpr std::string_view kScheme = "://", kBy = "CREDENTIALS";
  for (std::size_t at = 0; (at = text.find(kScheme, at)) != std::string::npos;) {
    at += kScheme.size();
    const std::size_t end = std::min(text.find_first_of("/?# \t\n\"'`<>", at), text.size());
    const std::size_t sign = text.substr(at, end - at).rfind('@');
    if (sign == std::string::npos) continue;
    text.replace(at, sign, kBy);
    at += kBy.size();
  }
}

bool names_secret(std::string_view name) {
  constexpr std::array<std::string_view, 9> kEndings{"token",   "secret", "password",   "passwd",   "signature",
                                                     "api_key", "apikey", "access_key", "accesskey"};
  std::string words;
  for (const char c : name) words += c == '-' ? '_' : lower(c);
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return words.ends_with(ending); });
}

/// "?access_token=..." of a URL, "API_KEY=..." of an environment.
void replace_secrets(std::string& text) {
  constexpr std::string_view kBy = "CREDENTIALS";
  for (std::size_t at = 0; (at = text.find('=', at)) != std::string::npos; ++at) {
    std::size_t begin = at;
    while (begin > 0 && (is_word(text[begin - 1]) || text[begin - 1] == '_' || text[begin - 1] == '-')) --begin;
    if (!names_secret(std::string_view(text).substr(begin, at - begin))) continue;
    const char quote = at + 1 < text.size() ? text[at + 1] : ' ';
    const bool quoted = quote == '"' || quote == '\'';
    const std::size_t from = at + (quoted ? 2 : 1);
    const std::size_t end = std::min(quoted ? text.find(quote, from) : text.find_first_of("&;, \t\n\"'`<>", from), text.size());
    if (end > from) text.replace(from, end - from, kBy);
  }
}

/// Other people's folders: a path of a shared file may lead through one.
void replace_other_homes(std::string& text) {
  constexpr std::string_view kHomes = "/home/";
  for (std::size_t at = 0; (at = text.find(kHomes, at)) != std::string::npos;) {
    at += kHomes.size();
    while (text.compare(at, 1, "/") == 0 || text.compare(at, 2, "./") == 0) at += text[at] == '/' ? 1 : 2;
    const std::size_t end = std::min(text.find_first_of("/ \t\n\"'`:,;()<>", at), text.size());
    if (end == at) continue;
    text.replace(at, end - at, "USER");
  }
}

/// Length of the UUID that begins there, without what may stand before it; 0: none does.
std::size_t uuid_at(const std::string& text, std::size_t at) {
  constexpr std::array<std::size_t, 5> kGroups{8, 4, 4, 4, 12};
  std::size_t end = at;
  for (std::size_t group = 0; group < kGroups.size(); ++group) {
    if (group > 0 && (end >= text.size() || text[end++] != '-')) return 0;
    for (std::size_t i = 0; i < kGroups[group]; ++i) {
      if (end >= text.size() || !is_hex(text[end++])) return 0;
    }
  }
  return stands_alone(text, at, end - at) ? end - at : 0;
}

void replace_uuids(std::string& text) {
  constexpr std::size_t kShown = 8;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::size_t length = is_hex(text[at]) ? uuid_at(text, at) : 0;
    if (length == 0) continue;
    const std::string hash = "#" + base::content_key(text.substr(at, length)).substr(0, kShown);
    text.replace(at, length, hash);
    at += hash.size() - 1;
  }
}

/// "GPU-8932f937", as CUDA_VISIBLE_DEVICES takes it. Whole ones have been replaced before.
void replace_short_uuids(std::string& text) {
  constexpr std::size_t kShown = 8, kLeastDigits = 4;
  for (const std::string_view prefix : {"GPU-", "MIG-"}) {
    for (std::size_t at = 0; (at = text.find(prefix, at)) != std::string::npos;) {
      at += prefix.size();
      std::size_t end = at, digits = 0;
      for (; end < text.size() && (is_hex(text[end]) || text[end] == '-'); ++end) digits += text[end] == '-' ? 0 : 1;
      if (digits < kLeastDigits || !stands_alone(text, at, end - at)) continue;
      text.replace(at, end - at, "#" + base::content_key(text.substr(at, end - at)).substr(0, kShown));
    }
  }
}

/// What the names of hosts are looked up below.
std::vector<std::string> search_domains() {
  std::vector<std::string> domains;
  std::ifstream file("/etc/resolv.conf");
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string word;
    words >> word;
    if (word != "search" && word != "domain") continue;
    while (words >> word) domains.push_back(word);
  }
  return domains;
}

std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

}  // namespace

Redaction::Redaction(Names names) {
  for (std::string home : names.homes) {
    while (home.size() > 1 && home.back() == '/') home.pop_back();
    if (home.size() > 1 && home.front() == '/') replaced_.emplace_back(std::move(home), "~");
  }
  for (auto& user : names.users) {
    if (!user.empty() && user != "attune") replaced_.emplace_back(std::move(user), "USER");
  }
  for (auto& host : names.hosts) {
    if (!host.empty() && host != "localhost") replaced_.emplace_back(std::move(host), "HOST");
  }
  for (auto& domain : names.domains) {
    while (!domain.empty() && domain.back() == '.') domain.pop_back();
    if (domain.find('.', 1) != std::string::npos) replaced_.emplace_back(std::move(domain), "DOMAIN");
  }
  std::stable_sort(replaced_.begin(), replaced_.end(), [](const auto& a, const auto& b) { return a.first.size() > b.first.size(); });
  // Homes first, whatever their length: the user's name within one would hide it.
  std::stable_partition(replaced_.begin(), replaced_.end(), [](const auto& one) { return one.first.front() == '/'; });
}

Redaction Redaction::of_this_machine() {
  Names names;
  names.homes = {variable("HOME")};
  names.users = {variable("USER"), variable("LOGNAME"), variable("SUDO_USER")};
  names.hosts = {variable("HOSTNAME")};
  if (const passwd* const entry = ::getpwuid(::getuid()); entry != nullptr) {
    names.homes.emplace_back(entry->pw_dir);
    names.users.emplace_back(entry->pw_name);
  }
  std::array<char, 256> host{};
  if (::gethostname(host.data(), host.size() - 1) == 0) names.hosts.emplace_back(host.data());
  for (std::size_t i = 0, count = names.homes.size(); i < count; ++i) {
    std::error_code failure;  // a home that is not there has no other name
    const auto real = std::filesystem::canonical(names.homes[i], failure);
    if (!failure) names.homes.push_back(real.string());
    names.homes.push_back(std::filesystem::path(names.homes[i]).lexically_normal().string());
  }
  names.domains = search_domains();
  for (std::size_t i = 0, count = names.hosts.size(); i < count; ++i) {
    const std::size_t dot = names.hosts[i].find('.');
    if (dot == std::string::npos) continue;
    names.domains.push_back(names.hosts[i].substr(dot + 1));
    names.hosts.push_back(names.hosts[i].substr(0, dot));
  }
  return Redaction(std::move(names));
}

std::string Redaction::operator()(const std::string& text) const {
  std::string out = text;
  replace_credentials(out);
  replace_secrets(out);
  replace_uuids(out);
  replace_short_uuids(out);
  for (const auto& [name, by] : replaced_) replace_all(out, name, by);
  remove_domains_behind(out, "HOST");
  replace_other_homes(out);
  return out;
}

}  // namespace attune::tools
