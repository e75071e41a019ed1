// A template as a folder: template.json, its sources, what they include, its own reference and the arrays beside them.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "attune/error.hpp"
#include "tuner/base/files.hpp"
#include "tuner/spec/data_file.hpp"
#include "tuner/spec/device_headers.hpp"
#include "tuner/spec/includes.hpp"
#include "tuner/spec/json_document.hpp"
#include "tuner/spec/kernel_template.hpp"
#include "tuner/spec/spec_limits.hpp"

namespace attune::spec {
namespace {

/// Whether there is a regular file of this name in the folder. Throws: SpecError when it is a link to one elsewhere: what is read
/// as a part of a template is stored, exported and shown, and whoever made the folder may not be who may read that file.
bool is_part(const std::filesystem::path& folder, const std::string& name) {
  if (included_file("template.json", name).empty()) return false;  // no path inside the folder, which is told where it is named
  const std::filesystem::path path = folder / name;
  std::error_code unreadable;
  if (!std::filesystem::is_regular_file(path, unreadable)) return false;
  const std::filesystem::path home = std::filesystem::canonical(folder.empty() ? "." : folder, unreadable),
                              file = std::filesystem::canonical(path, unreadable);
  if (unreadable) return false;  // it is gone again
  if (std::mismatch(home.begin(), home.end(), file.begin(), file.end()).first == home.end()) return true;
  throw SpecError(path.string(), 0, 0, fmt::format("it is '{}', outside of the template's folder; copy the file into it", file.string()));
}

/// The same of what a template need not have. Throws: SpecError also when something else of this name is there: it is meant to be read.
bool has_part(const std::filesystem::path& folder, const std::string& name) {
  if (is_part(folder, name)) return true;
  std::error_code unreadable;
  if (!std::filesystem::exists(std::filesystem::symlink_status(folder / name, unreadable))) return false;
  throw SpecError((folder / name).string(), 0, 0,
                  "it is no file that can be read, but a link to nothing, a folder or a device; remove it, or put the file there");
}

/// Asks for the size first: a file that is no template must not fill the memory.
std::string read_part(const std::filesystem::path& path, std::size_t most) {
  if (const auto bytes = std::filesystem::file_size(path); bytes > most) {
    throw SpecError(path.string(), 0, 0, fmt::format("the file has {} bytes; at most {} are read", bytes, most));
  }
  return base::read_file(path);
}

/// A loose first look at the sources; parse() then says what is wrong with them, at its place.
void read_sources(const JsonNode& root, const std::filesystem::path& folder, std::map<std::string, std::string>& files) {
  const JsonNode* sources = root.find("sources");
  if (sources == nullptr) return;
  for (const JsonNode& item : sources->items) {
    const JsonNode* name = item.kind == JsonNode::Kind::Object ? item.find("file") : &item;
    if (name == nullptr || !name->is_string()) continue;
    const std::string file = name->string("a source");
    if (files.contains(file) || files.size() > kMostFiles) continue;
    if (is_part(folder, file)) files[file] = read_part(folder / file, kMostFileBytes);
  }
}

/// Puts the line that stands for an array there. A file that is not there is told by parse(), at its place. Throws: SpecError when it is a
/// link that leads out of the folder, or no regular file.
void read_data(const JsonNode* name, const std::filesystem::path& folder, std::map<std::string, std::string>& files) {
  if (name == nullptr || !name->is_string()) return;
  const std::string file = included_file("template.json", name->string("a file"));
  if (file.empty() || is_name_of_templates(file) || files.contains(file) || files.size() > kMostFiles) return;
  if (!has_part(folder, file)) return;
  try {
    files[file] = to_text(read_data_file(folder / file));
  } catch (const SpecError& error) {
    const SourcePosition& at = name->position;
    throw SpecError(at.file, at.line, at.column, fmt::format("failed reading the array: {}", error.what()));
  }
}

/// A loose first look at the arrays: what fills buffers, sizes follow from and outputs must be.
void read_data_files(const JsonNode& root, const std::filesystem::path& folder, std::map<std::string, std::string>& files) {
  const auto each = [](const JsonNode* object, const auto& use) {
    if (object == nullptr) return;
    for (const JsonNode::Member& member : object->members) use(member.value);
  };
  const auto within = [](const JsonNode& node, const char* key) {
    const JsonNode* found = node.find(key);
    return found == nullptr ? nullptr : found->find("file");
  };
  each(root.find("problem"), [&](const JsonNode& axis) { read_data(within(axis, "size"), folder, files); });
  each(root.find("buffers"), [&](const JsonNode& buffer) { read_data(within(buffer, "fill"), folder, files); });
  if (const JsonNode* reference = root.find("reference"))
    each(reference->find("outputs"), [&](const JsonNode& output) { read_data(&output, folder, files); });
}

/// The file of the template's own reference; empty: it has none.
std::string own_reference(const JsonNode& root) {
  const JsonNode* reference = root.find("reference");
  const JsonNode* file = reference == nullptr ? nullptr : reference->find("file");
  return file != nullptr && file->is_string() ? file->string("the reference's file") : "";
}

}  // namespace

KernelTemplate KernelTemplate::load(const std::filesystem::path& folder) {
  const std::filesystem::path spec = folder / "template.json";
  if (!is_part(folder, "template.json")) {
    throw SpecError(spec.string(), 0, 0,
                    "failed reading the template: no such file; a template is a folder with template.json and its sources");
  }
  const std::string text = read_part(spec, kMostSpecBytes);
  const JsonNode root = JsonNode::parse(text, spec.string());
  std::map<std::string, std::string> files;
  read_sources(root, folder, files);
  if (const std::string own = own_reference(root); !included_file("template.json", own).empty() && has_part(folder, own)) {
    files[own] = read_part(folder / own, kMostSpecBytes);
    read_sources(JsonNode::parse(files[own], (folder / own).string()), folder, files);
  }
  add_included_files(files, [&](const std::string& file, std::string& bytes) {
    if (is_device_header(file) || !is_part(folder, file)) return false;
    bytes = read_part(folder / file, kMostFileBytes);
    return true;
  });
  read_data_files(root, folder, files);
  if (has_part(folder, kDefaultsFile)) files[kDefaultsFile] = read_part(folder / kDefaultsFile, kMostSpecBytes);
  KernelTemplate kernel = parse(text, files, spec.string());
  if (const auto ladder = folder / "ladder.json"; has_part(folder, "ladder.json")) {
    kernel.ladder_text = read_part(ladder, kMostSpecBytes);
    kernel.ladder_path = ladder.string();
  }
  return kernel;
}

}  // namespace attune::spec
