// What a text that is sent to others no longer says.
#include <doctest/doctest.h>

#include "tools/redaction.hpp"

namespace test_redaction {

using attune::tools::Redaction;

TEST_CASE("homes, names and UUIDs are replaced wherever they stand, the same UUID by the same hash") {
  const Redaction redaction({{"/home/alice/", "/data/homes/alice"}, {"alice"}, {"node17.example.org", "node17"}});
  CHECK(redaction("/home/alice/x:/data/homes/alice") == "~/x:~");
  CHECK(redaction("/home/alice2/x") == "/home/USER/x");
  CHECK(redaction("/home//carol/x /home/./carol/x") == "/home//USER/x /home/./USER/x");
  CHECK(redaction("Alice@NODE17") == "USER@HOST");
  CHECK(redaction("at alice@node17.example.org, node17, malice_runs") == "at USER@HOST, HOST, malice_runs");
  const std::string uuid = "0a1b2c3d-0001-0002-0003-0123456789AB";
  const std::string once = redaction("GPU-" + uuid + " MIG-" + uuid);
  CHECK(once.find("0123456789AB") == std::string::npos);
  CHECK(once.size() == std::string("GPU-#12345678 MIG-#12345678").size());
  CHECK(once.substr(4, 9) == once.substr(18, 9));
  CHECK(redaction("0a1b2c3d-0001-0002-0003-0123456789AC").substr(0, 9) != once.substr(4, 9));
  CHECK(redaction("0a1b2c3d-0001-0002-0003-0123456789A") == "0a1b2c3d-0001-0002-0003-0123456789A");
}

TEST_CASE("short names are replaced as words of their own; other people's homes lose their names") {
  const Redaction redaction({{"/opt/own"}, {"bob"}, {"vm"}});
  CHECK(redaction("bob bobbin vm llvm /opt/own/a /opt/owner vm_1") == "USER bobbin HOST llvm ~/a /opt/owner HOST_1");
  CHECK(redaction("/home/carol/data, '/home/dave' and /home/") == "/home/USER/data, '/home/USER' and /home/");
}

TEST_CASE("names that say nothing of anybody, or would be in every line, stay") {
  const Redaction redaction({{"/", "", "relative"}, {"", "attune"}, {"localhost", ""}});
  CHECK(redaction("/usr/bin/attune on localhost, relative") == "/usr/bin/attune on localhost, relative");
}

TEST_CASE("a host's domain goes with its name, known or not, and behind other hosts it is a domain; file names keep their endings") {
  const Redaction redaction({{}, {}, {"node17"}, {"hpc.example.org", "local", "example.org."}});
  CHECK(redaction("node17.hpc.example.org:22, node17.other.example.net.") == "HOST:22, HOST.");
  CHECK(redaction("login3.hpc.example.org and www.example.org, a.local") == "login3.DOMAIN and www.DOMAIN, a.local");
  CHECK(redaction("node17.cu node17.") == "HOST.cu HOST.");
  CHECK(redaction("MYHOST.one.two LOCALHOST.a.b node17.a.b") == "MYHOST.one.two LOCALHOST.a.b HOST");
}

TEST_CASE("a device's UUID that is cut short is replaced too, and words that only look like one stay") {
  const Redaction redaction({});
  const std::string listed = redaction("CUDA_VISIBLE_DEVICES=GPU-8932f937,MIG-8932f937-d72c");
  CHECK(listed.find("8932f937") == std::string::npos);
  CHECK(listed.size() == std::string("CUDA_VISIBLE_DEVICES=GPU-#12345678,MIG-#12345678").size());
  CHECK(redaction(listed) == listed);
  for (const char* text : {"GPU-accelerated", "GPU-bad", "a GPU- and a MIG-slice"}) CHECK(redaction(text) == text);
}

TEST_CASE("a URL keeps its place and loses its user and password") {
  const Redaction redaction({});
  CHECK(redaction("proxy=http://bob:p%40ss@w0rd@proxy:3128/x@y") == "proxy=http://CREDENTIALS@proxy:3128/x@y");
  CHECK(redaction("https://token@a https://b/c?d=e@f git@github.com:a/b") == "https://CREDENTIALS@a https://b/c?d=e@f git@github.com:a/b");
}

TEST_CASE("what is set to the name of a secret is replaced, in URLs and elsewhere, and other keys keep their values") {
  const Redaction redaction({});
  CHECK(redaction("https://a/b?x=1&access_token=abc.def&y=2") == "https://a/b?x=1&access_token=CREDENTIALS&y=2");
  CHECK(redaction("PIP_API-KEY=abc, DB_PASSWORD=x.y HF_TOKEN=hf_1 token=") ==
        "PIP_API-KEY=CREDENTIALS, DB_PASSWORD=CREDENTIALS HF_TOKEN=CREDENTIALS token=");
  CHECK(redaction("SECRET='x y' Passwd=\"a,b\" secret=\"cut") == "SECRET='CREDENTIALS' Passwd=\"CREDENTIALS\" secret=\"CREDENTIALS");
  CHECK(redaction("device_key=abc tokens=5 key=7 a==b") == "device_key=abc tokens=5 key=7 a==b");
}

}  // namespace test_redaction
