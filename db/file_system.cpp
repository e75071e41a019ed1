#include "db/file_system.hpp"

#include <sys/vfs.h>

namespace attune::db {
namespace {

struct Known {
  std::uint32_t magic;
  const char* name;
};

// Network file systems, cluster file systems, and those by which a virtual machine sees the files of its host.
constexpr Known kKnown[] = {
    {0x00006969, "NFS"},    {0x0000517B, "SMB"},    {0xFF534D42, "CIFS"},       {0xFE534D42, "SMB2"},      {0x65735546, "FUSE"},
    {0x0BD00BD0, "Lustre"}, {0x47504653, "GPFS"},   {0x19830326, "BeeGFS"},     {0x00C36400, "Ceph"},      {0x01021997, "9p"},
    {0x5346414F, "AFS"},    {0x6B414653, "AFS"},    {0x73757245, "Coda"},       {0x0000564C, "NCP"},       {0x20030528, "OrangeFS"},
    {0xAAD7AAEA, "PanFS"},  {0x01161970, "GFS2"},   {0x7461636F, "OCFS2"},      {0x61636673, "ACFS"},      {0xBEEFDEAD, "SNFS"},
    {0x18031977, "WekaFS"}, {0xBACBACBC, "VMware"}, {0x786F4256, "VirtualBox"}, {0x7C7C6673, "Parallels"},
};

}  // namespace

std::optional<std::string> network_file_system(std::uint32_t magic) {
  for (const Known& known : kKnown) {
    if (known.magic == magic) return known.name;
  }
  return std::nullopt;
}

std::optional<std::string> network_file_system_of(const std::filesystem::path& path) {
  struct statfs status {};
  if (::statfs(path.c_str(), &status) != 0) {
    const std::filesystem::path folder = path.has_parent_path() ? path.parent_path() : ".";
    if (::statfs(folder.c_str(), &status) != 0) return std::nullopt;
  }
  // The field is signed, and some of the numbers use its highest bit.
  return network_file_system(static_cast<std::uint32_t>(status.f_type));
}

}  // namespace attune::db
