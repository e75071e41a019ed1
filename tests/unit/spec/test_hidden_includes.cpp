// Sources that hide an #include from whoever reads strings and comments in another way than the compiler does. Each is read by NVRTC 13.0,
// or by another compiler, as one that includes the file.
#include <doctest/doctest.h>

#include <string>

#include "tests/unit/spec/spec_support.hpp"

namespace test_hidden_includes {

using namespace attune::spec;
using namespace attune::spec::test;

namespace {

std::string error_for(const std::string& source, const std::map<std::string, std::string>& more = {}) {
  std::map<std::string, std::string> files{{"sample.cu", source}};
  files.insert(more.begin(), more.end());
  return error_of([&] { (void)KernelTemplate::parse(sample_template(), files, "t.json"); });
}

}  // namespace

TEST_CASE("no string, number or comment hides an include from the reader") {
  const std::string include = "#include \"/etc/passwd\"\n";
  const std::string sources[] = {
      "#define nameu8R\nauto k = nameu8R\"(\"\n" + include + "\")\";\n",  // a name that ends like a prefix
      "#define X \"\"R\"(\"\n" + include + "//)\"\n",                     // the suffix of a string
      "#define X 'a'R\"(\"\n" + include + "//)\"\n",                      // of a character
      "#define X u\"a\"R\"(\"\n" + include + "//)\"\n",                   // of a string with a prefix
      "#define X 1LR\"(\"\n" + include + "//)\"\n",                       // of a number
      "#define X 1'0'/*'\n" + include + "//*/\n",                         // a quote of a number, then a character
      "#define X \\u00e9R\"(\"\n" + include + "//)\"\n",                  // a name with a character by its number
      "#define X R\"abcdefghijklmnopqrstuvwxyz(\"\n" + include + "//)abcdefghijklmnopqrstuvwxyz\"\n",  // a delimiter that is none
      "#if 0\n x = R\"(\n#endif\n" + include + "#if 0\n)\"\n#endif\n",                                 // skipped text
      "#define X <'/*\n" + include + "//*/\n",
      "#if 0\n'/*'\n#endif\n" + include + "//*/\n",
      "/* \n" + include + "*/\n",  // a comment, today
      "R\"(\n" + include + ")\";\n",
      "//*/ #include \"/etc/passwd\"\n",
      "/* a */ # /* b\n */ include /**/ \"/etc/passwd\"\n",
      "#inc\\\nlude \"/etc/passwd\"\n",
      "\v#\finclude \"/etc/passwd\"\n",
      "%:include \"/etc/passwd\"\n",
      "/*\n#include MACRO\n*/",
      "/*\n#include <../../etc/passwd>\n*/",
      "/*\n#include </etc/passwd>\n*/",
      "/*\n#include_next <a>\n#import <a>\n*/",
      "/*\n#embed <a>\n*/",
      "import \"/etc/passwd\";\n",
      "export import <vector>;\n",
      "import name;\n",
      "#define name \"/etc/passwd\"\nimport name;\n",
      "imp\\\nort/**/name;\n",
      "/*\n*/ export import :part;\n",
      "import u8\"/etc/passwd\";\n"};
  for (const std::string& source : sources) {
    CAPTURE(source);
    const std::string error = error_for(source);
    const bool refused = contains(error, "must be a path inside the template's folder") || contains(error, "the template does not hold");
    CHECK_MESSAGE(refused, error);
  }
}

TEST_CASE("a file of the template is not included where the reader sees a comment") {
  // The compiler would look for it in the working directory.
  for (const char* source : {"/*\n#include \"a.cuh\"\n*/\n", "#if 0\nR\"(\n#endif\n#include \"a.cuh\"\n#if 0\n)\"\n#endif\n"}) {
    CAPTURE(std::string(source));
    CHECK(contains(error_for(source, {{"a.cuh", ""}}), "would read a file that the template does not hold if it were a directive"));
  }
}

TEST_CASE("what cannot be a directive is left alone") {
  for (const char* source :
       {"// #include \"/etc/passwd\"\n", "/// use: #include \"/etc/passwd\"\n", "int a; // */ comment #include \"x\"\n",
        "/*\n * #include \"x\"\n */\n", "const char* s = \"#include \\\"x\\\"\";\n", "/*\n#include <cub/cub.cuh>\n*/\n",
        "void import(int);\nvoid f() {\n  import (1);\n}\n", "int important;\nint f(int import) {\n  return\nimport + 1;\n}\n",
        "#pragma include\n", "#define include 1\n", "int included;\n"}) {
    CAPTURE(std::string(source));
    CHECK(error_for(source) == "");
  }
}

TEST_CASE("__has_include is refused in every directive, a macro's too") {
  for (const char* source : {"#if __has_include(\"a\")\n#endif\n", "#define H __has_include\n#if H(\"/etc/passwd\")\n#endif\n",
                             "#if 0\n#elif defined(X) || \\\n__has_\\\ninclude(<a>)\n#endif\n", "#ifdef __has_embed\n#endif\n"}) {
    CAPTURE(std::string(source));
    CHECK(contains(error_for(source), "depend on files that the template does not hold"));
  }
}

TEST_CASE("a file name with a line break or another control character is refused") {
  for (const char* name : {"a\\nb.cu", "a\\n#include \\\"/etc/passwd\\\"\\n.cu", "a\\u0001.cu", "a\\r.cu", "a\\u007f.cu"}) {
    CAPTURE(std::string(name));
    CHECK(contains(sample_error(R"(["sample.cu"])", std::string("[\"") + name + "\"]"), "without control characters"));
  }
  CHECK(contains(sample_error(R"(["sample.cu"])", "[\"" + std::string(257, 'a') + "\"]"), "at most 256 bytes"));
  CHECK(contains(error_for("#include \"" + std::string(257, 'a') + "\"\n"), "at most 256 bytes"));
  CHECK(contains(error_for("#include \"a\x01.cuh\"\n"), "must be a path inside the template's folder"));
}

}  // namespace test_hidden_includes
