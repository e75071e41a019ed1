#include <doctest/doctest.h>

#include <vector>

#include "tests/unit/spec/spec_support.hpp"
#include "tuner/spec/compiler_options.hpp"

namespace test_compiler_options {

using namespace attune::spec;
using namespace attune::spec::test;

TEST_CASE("an option passes that changes the code or the warnings of its source alone") {
  for (const char* option : {"--use_fast_math",
                             "-use_fast_math",
                             "--fmad=false",
                             "-fmad=true",
                             "--ftz=true",
                             "-prec-sqrt=false",
                             "--prec-div=true",
                             "--restrict",
                             "--extra-device-vectorization",
                             "--maxrregcount=32",
                             "-maxrregcount=255",
                             "--jump-table-density=0",
                             "-jtd=101",
                             "-Ofc=mid",
                             "--Ofast-compile=max",
                             "--ptxas-options=-O2",
                             "-Xptxas=-dlcm=cg",
                             "-Xptxas=--allow-expensive-optimizations=true",
                             "--std=c++20",
                             "-std=c++17",
                             "--device-int128",
                             "--minimal",
                             "-DX",
                             "-DX=1",
                             "-DX=",
                             "--define-macro=X=a b + \"c\"",
                             "-UX",
                             "--undefine-macro=X",
                             "-w",
                             "--diag-suppress=177,20012",
                             "-diag-error=1",
                             "-err-no",
                             "--brief-diagnostics=true",
                             "-device-stack-protector=false"}) {
    CAPTURE(std::string(option));
    CHECK(why_no_option(option) == "");
  }
}

namespace {

/// Options of NVRTC that read, write or name files, link, or change what is compiled, and one of a later version.
constexpr const char* kOptionsOfFiles[] = {"create-pch",
                                           "create_pch",
                                           "use-pch",
                                           "use_pch",
                                           "pch",
                                           "pch-dir",
                                           "pch_dir",
                                           "pch-verbose",
                                           "pch-messages",
                                           "time",
                                           "fdevice-time-trace",
                                           "device-time-trace",
                                           "include-path",
                                           "I",
                                           "pre-include",
                                           "preinclude",
                                           "include",
                                           "isystem",
                                           "options-file",
                                           "optf",
                                           "dlink-time-opt",
                                           "dlto",
                                           "gen-opt-lto",
                                           "optix-ir",
                                           "relocatable-device-code",
                                           "rdc",
                                           "device-c",
                                           "dc",
                                           "device-w",
                                           "dw",
                                           "extensible-whole-program",
                                           "ewp",
                                           "split-compile",
                                           "frandom-seed",
                                           "Xnvvm",
                                           "Xllc",
                                           "Xopt",
                                           "Xcudafe",
                                           "nvvm-version",
                                           "enable-cache-trace",
                                           "no-cache",
                                           "modify-stack-limit",
                                           "instantiate-templates-in-pch",
                                           "device-debug",
                                           "G",
                                           "generate-line-info",
                                           "lineinfo",
                                           "optimization-info",
                                           "opt-info",
                                           "no-source-include",
                                           "cuda-api-version",
                                           "keep",
                                           "keep-dir",
                                           "o",
                                           "output-file",
                                           "odir",
                                           "MF",
                                           "run",
                                           "fdevice-syntax-only",
                                           "some-option-of-a-later-version"};

}  // namespace

TEST_CASE("no option of NVRTC that reads, writes or names files passes, in any spelling") {
  for (const std::string name : kOptionsOfFiles) {
    for (const char* dashes : {"-", "--", "---"}) {
      for (const char* value : {"", "=", "=x", "=true", " x", "=/tmp/x"}) {
        const std::string option = dashes + name + value;
        CAPTURE(option);
        CHECK(why_no_option(option) != "");
      }
    }
  }
}

TEST_CASE("an option passes whole or not at all: no abbreviation, other case, space or second option in it") {
  for (const char* option : {"",
                             "-",
                             "--",
                             "fmad=false",
                             "--fmad",
                             "--fmad=",
                             "--fmad=yes",
                             "--fmad=false ",
                             " --fmad=false",
                             "--fma=false",
                             "--FMAD=false",
                             "--fmad =false",
                             "--fmad false",
                             "--fmad=false --create-pch=x",
                             "--fmad=false\n",
                             "--fmad=false,--time=x",
                             "-use_fast_math=true",
                             "--use_fast_math=",
                             "--use-fast-math",
                             "--maxrregcount=0",
                             "--maxrregcount=256",
                             "--maxrregcount=+8",
                             "--maxrregcount=8k",
                             "--maxrregcount=99999999999",
                             "--std=c++14",
                             "--std=c++03",
                             "--std=",
                             "--std",
                             "-jtd=102",
                             "-Ofc",
                             "-Xptxas",
                             "-Xptxas=",
                             "-Xptxas=-o=x",
                             "-Xptxas=--output-file=x",
                             "-Xptxas=-v,-o,x",
                             "-Xptxas=-O3 -o x",
                             "-Xptxas=--options-file=x",
                             "--ptxas-options=-dlcm=xx",
                             "--diag-suppress=",
                             "--diag-suppress=1,,2",
                             "--diag-suppress=a",
                             "--diag-suppress=1,",
                             "-err-no=1"}) {
    CAPTURE(std::string(option));
    CHECK(why_no_option(option) != "");
  }
  CHECK(why_no_option(std::string("--use_fast_math\0", 16)) != "");
  CHECK(why_no_option("-DX=" + std::string(2000, '1')) != "");
}

TEST_CASE("a macro is a name and one line of plain text") {
  for (const char* option : {"-D",
                             "-D X",
                             "-D=1",
                             "-D1=2",
                             "-DX(a)=a",
                             "-DX Y",
                             "-DX=a\nb",
                             "-DX=a\rb",
                             "-DX=a\\",
                             "-DX=#a",
                             "-DX=/*",
                             "-DX=//",
                             "-DX=?"
                             "?=",
                             "-DX=__has_include(\"a\")",
                             "-DX=\xC3\xA9",
                             "--define-macro",
                             "--define-macro=",
                             "--define-macro X=1",
                             "-U",
                             "-UX=1",
                             "-U X",
                             "-D\tX"}) {
    CAPTURE(std::string(option));
    CHECK(why_no_option(option) != "");
  }
}

TEST_CASE("a refused option is named with its place, and the manual that lists the others") {
  const std::string error = sample_error(R"("work":)", R"("options": ["--restrict", "-create-pch=/tmp/x"], "work":)");
  CHECK(contains(error, "t.json:31:29: the option '-create-pch=/tmp/x' may not be given by a template"));
  CHECK(contains(error, "docs/template-format.md"));
  CHECK(contains(why_no_option("--restrct"), "did you mean '--restrict'?"));
}

}  // namespace test_compiler_options
