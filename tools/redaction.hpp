#pragma once
#include <string>
#include <utility>
#include <vector>

namespace attune::tools {

/// Takes out of a text what says whose machine it comes from, for a file that somebody is to send to others.
class Redaction {
 public:
  /// Names that are replaced. `homes`: folders, absolute; `users` and `hosts`: names. What is empty or "/" is left out, and of hosts
  /// "localhost", of users the name of this program, which every line would have.
  /// `domains`: what hosts' names end in ("example.org"); those of one word ("local") are left out.
  struct Names {
    std::vector<std::string> homes, users, hosts, domains = {};
  };
  explicit Redaction(Names names);
  /// Of this process: HOME, USER, LOGNAME, the user database, the host's name, as given and with links followed; domains of the host's name
  /// and of resolv.conf.
  [[nodiscard]] static Redaction of_this_machine();

  /// Home folders become "~" ("/home/<other>": "/home/USER"), names that are words of their own USER and HOST; a host's domain goes with
  /// its name, and is DOMAIN behind others. UUIDs, those of devices with their "GPU-" or "MIG-" too, become "GPU-#1a2b3c4d", the same for
  /// the same one; of devices also those that are cut short, which drivers take. In a URL "user:password@" becomes "CREDENTIALS@", and so
  /// does what is set to a name that ends in "token", "secret", "password", "passwd", "signature", "api_key" or "access_key".
  [[nodiscard]] std::string operator()(const std::string& text) const;

 private:
  std::vector<std::pair<std::string, std::string>> replaced_;  ///< longest first: a home before the user's name in it
};

}  // namespace attune::tools
