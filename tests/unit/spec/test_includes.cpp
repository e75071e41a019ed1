#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>

#include "spec_support.hpp"
#include "tests/support/temp_folder.hpp"
#include "tuner/spec/includes.hpp"
#include "tuner/spec/launch_plan.hpp"

namespace test_includes {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;

namespace {

using Kind = FileDirective::Kind;
using Files = std::map<std::string, std::string>;

/// The names of the files that a source includes, in order.
std::vector<std::string> included(const std::string& source) {
  std::vector<std::string> names;
  for (const FileDirective& directive : file_directives(source)) {
    if (directive.kind == Kind::Include) names.push_back(directive.text);
  }
  return names;
}

bool refused(const std::string& source) {
  const auto directives = file_directives(source);
  return directives.size() == 1 && directives.front().kind == Kind::Refused;
}

KernelTemplate with_files(const Files& files) { return KernelTemplate::parse(sample_template(), files, "t/template.json"); }

std::string error_with(const Files& files) {
  return error_of([&] { static_cast<void>(with_files(files)); });
}

/// What a compiler gets of sample.cu, from its first line on.
std::string compiled_text(const KernelTemplate& kernel) {
  const std::string source = make_source(kernel, sample_problem(), default_configuration(kernel), DeviceInfo::of_architecture("sm_90"));
  return source.substr(source.find("#line 1 \"sample.cu\""));
}

}  // namespace

TEST_CASE("includes are found wherever a preprocessor finds them") {
  using Names = std::vector<std::string>;
  CHECK(included("#include \"a.cuh\"\n") == Names{"a.cuh"});
  CHECK(included("int x;\n  #  include\t\"a.cuh\" // why\n") == Names{"a.cuh"});
  CHECK(included("/* c */ #include /* d */ \"a.cuh\"\n") == Names{"a.cuh"});
  CHECK(included("/* two\nlines */ #include \"a.cuh\"") == Names{"a.cuh"});
  CHECK(included("#inc\\\nlude \\\r\n\"a.cuh\"\n") == Names{"a.cuh"});
  CHECK(included("%:include \"a.cuh\"\n") == Names{"a.cuh"});
  CHECK(included("#if 0\ndon't\n#include \"a.cuh\"\n#endif\n#include \"b.cuh\"\n") == Names{"a.cuh", "b.cuh"});
  CHECK(included("int n = 1'000; const char* s = \"/*\";\n#include \"a.cuh\"\n") == Names{"a.cuh"});
  CHECK(included("auto s = R\"x(\n#include \"no.cuh\"\n)\")x\";\n#include \"a.cuh\"\n") == Names{"a.cuh"});
}

TEST_CASE("what only looks like an include is none") {
  CHECK(included("// #include \"a.cuh\"\n").empty());
  CHECK(included("// continued \\\n#include \"a.cuh\"\n").empty());
  CHECK(included("/*\n#include \"a.cuh\"\n*/\n").empty());
  CHECK(included("const char* s = \"\\\n#include \\\"a.cuh\\\"\";\n").empty());
  CHECK(included("int a; #include \"a.cuh\"\n").empty());
  CHECK(included("#define INCLUDE #include \"a.cuh\"\n").empty());
  CHECK(file_directives("#include <cub/cub.cuh>\n#pragma unroll\n#if __has_cpp_attribute(nodiscard)\n#endif\n").empty());
}

TEST_CASE("what reads files that nobody can name beforehand is refused, at its line") {
  CHECK(refused("#include HEADER\n"));
  CHECK(refused("#include \"a.cuh\n"));
  CHECK(refused("#include </etc/passwd>\n"));
  CHECK(refused("#include <../a.cuh>\n"));
  CHECK(refused("#include_next \"a.cuh\"\n"));
  CHECK(refused("#import \"a.cuh\"\n"));
  CHECK(refused("#embed \"a.bin\"\n"));
  CHECK(refused("#if __has_include(\"a.cuh\")\n"));
  CHECK(contains(error_with({{"sample.cu", "\n#include HEADER\n"}}), "t/sample.cu:2:1: '#include HEADER' does not name a file"));
}

TEST_CASE("an included file belongs to the template: its bytes are hashed and compiled in its place") {
  const Files files{{"sample.cu", "int before;\n#include \"a.cuh\"\nint after;\n"}, {"a.cuh", "int inside;\n"}, {"other.cuh", "x"}};
  const KernelTemplate kernel = with_files(files);
  CHECK(kernel.includes_files);
  CHECK(kernel.files.size() == 2);
  CHECK(compiled_text(kernel) ==
        "#line 1 \"sample.cu\"\nint before;\n\n#line 1 \"a.cuh\"\nint inside;\n\n#line 3 \"sample.cu\"\nint after;\n\n");
  Files changed = files;
  changed["a.cuh"] = "int inside ;\n";
  CHECK(with_files(changed).content_hash != kernel.content_hash);
  changed = files;
  changed["other.cuh"] = "y";
  CHECK(with_files(changed).content_hash == kernel.content_hash);
}

TEST_CASE("an include names a file relative to the one that includes it, and never one outside of the folder") {
  const KernelTemplate kernel = with_files({{"sample.cu", "#include \"parts/a.cuh\"\n"},
                                            {"parts/a.cuh", "#include \"b.cuh\"\n#include \"../c.cuh\"\n"},
                                            {"parts/b.cuh", "B"},
                                            {"c.cuh", "C"}});
  CHECK(kernel.files.size() == 4);
  CHECK(contains(error_with({{"sample.cu", "#include \"../a.cuh\"\n"}, {"../a.cuh", "x"}}),
                 "sample.cu:1:1: the included file '../a.cuh' must be a path inside"));
  CHECK(contains(error_with({{"sample.cu", "#include \"/a.cuh\"\n"}, {"/a.cuh", "x"}}), "must be a path inside the template's folder"));
  CHECK(contains(error_with({{"sample.cu", "#include \"cuda_fp16.h\"\n"}}),
                 "'cuda_fp16.h' is missing; it belongs into the template's folder, and a header of CUDA is included as "
                 "<cuda_fp16.h>"));
}

TEST_CASE("a header of attune's own belongs to the template like a file of its folder, and other templates' headers do not") {
  const KernelTemplate kernel = with_files({{"sample.cu", "#include <attune/warp.cuh>\nint after;\n"}});
  CHECK(kernel.includes_files);
  // What it includes itself is there as well.
  CHECK(kernel.files.size() == 4);
  CHECK(kernel.files.contains("<attune/warp.cuh>"));
  CHECK(kernel.files.contains("<attune/operators.cuh>"));
  CHECK(kernel.files.contains("<attune/element.cuh>"));
  const std::string text = compiled_text(kernel);
  CHECK_FALSE(contains(text, "#include"));
  CHECK(contains(text, "\n#line 1 \"attune/warp.cuh\"\n"));
  CHECK(contains(text, "warp_combine"));
  CHECK(contains(text, "\n#line 2 \"sample.cu\"\nint after;\n"));
}

TEST_CASE("the header that a template was recorded with stays with it, whatever this build has") {
  const Files recorded{{"sample.cu", "#include <attune/bits.cuh>\n"}, {"<attune/bits.cuh>", "int of_another_build;\n"}};
  const KernelTemplate then = with_files(recorded);
  CHECK(then.files == recorded);
  CHECK(contains(compiled_text(then), "int of_another_build;"));
  CHECK(then.content_hash != with_files({{"sample.cu", "#include <attune/bits.cuh>\n"}}).content_hash);
}

TEST_CASE("an unknown header of attune's own is refused at its line, with those that there are") {
  const std::string error = error_with({{"sample.cu", "int x;\n#include <attune/vektor.cuh>\n"}});
  CHECK(contains(error, "t/sample.cu:2:1: attune has no header <attune/vektor.cuh>; known: <attune/"));
  CHECK(contains(error, "<attune/warp.cuh>"));
  CHECK(contains(error, "did you mean '<attune/vector.cuh>'?"));
  CHECK(contains(error_with({{"sample.cu", "#include <attune/../x.cuh>\n"}}), "leads out of CUDA's headers"));
}

TEST_CASE("no file of a template's folder takes the place of a header of attune's own") {
  const Files files{{"sample.cu", "#include \"<attune/bits.cuh>\"\n"}, {"<attune/bits.cuh>", "x"}};
  CHECK(contains(error_with(files), "must be a path inside the template's folder"));
  CHECK(contains(sample_error(R"(["sample.cu"])", R"(["<attune/bits.cuh>"])"), "must be a path inside the template's folder"));
  const attune::test::TempFolder folder;
  std::filesystem::create_directory(folder / "<attune");
  std::ofstream(folder / "template.json") << sample_template();
  std::ofstream(folder / "sample.cu") << "#include <attune/bits.cuh>\n";
  std::ofstream(folder / "<attune/bits.cuh>") << "int planted;\n";
  CHECK_FALSE(contains(compiled_text(KernelTemplate::load(folder.path())), "planted"));
}

TEST_CASE("pragma once holds across the files of one source; without it a cycle is refused") {
  const KernelTemplate kernel =
      with_files({{"sample.cu", "#include \"a.cuh\"\n#include \"a.cuh\"\n"}, {"a.cuh", "#pragma once\n#include \"a.cuh\"\nA\n"}});
  const std::string text = compiled_text(kernel);
  CHECK_FALSE(contains(text, "#pragma once"));
  CHECK(contains(text, "#ifndef ATTUNE_ONCE_"));
  CHECK(contains(text, "\n#line 3 \"a.cuh\"\nA\n"));
  CHECK(contains(error_with({{"sample.cu", "#include \"a.cuh\"\n"}, {"a.cuh", "#include \"b.cuh\"\n"}, {"b.cuh", "#include \"a.cuh\"\n"}}),
                 "t/b.cuh:1:1: 'a.cuh' includes itself; put #pragma once into it"));
}

TEST_CASE("files that include each other twice, thirty deep, are refused before they fill the memory") {
  Files files{{"sample.cu", "#include \"h0.cuh\"\n"}, {"h30.cuh", "x\n"}};
  for (int i = 0; i < 30; ++i) {
    const std::string line = "#include \"h" + std::to_string(i + 1) + ".cuh\"\n";
    files["h" + std::to_string(i) + ".cuh"] = line + line;
  }
  CHECK(contains(error_of([&] { static_cast<void>(compiled_text(with_files(files))); }), "more than 1000 files"));
}

TEST_CASE("a source that another source includes is compiled in both places, as written") {
  const std::string text = replaced(sample_template(), R"(["sample.cu"])", R"(["sample.cu", "b.cu"])");
  const KernelTemplate kernel = KernelTemplate::parse(text, {{"sample.cu", "#include \"b.cu\"\n"}, {"b.cu", "B\n"}}, "t.json");
  CHECK(kernel.includes_files);
  CHECK_FALSE(contains(compiled_text(kernel), "#include"));
}

TEST_CASE("a folder is read with what its sources include, and only that") {
  const attune::test::TempFolder folder;
  std::filesystem::create_directory(folder / "parts");
  std::ofstream(folder / "template.json") << sample_template();
  std::ofstream(folder / "sample.cu") << "#include \"parts/a.cuh\"\n";
  std::ofstream(folder / "parts/a.cuh") << "int a;\n";
  std::ofstream(folder / "unused.cuh") << "int u;\n";
  const KernelTemplate kernel = KernelTemplate::load(folder.path());
  CHECK(kernel.files == Files{{"sample.cu", "#include \"parts/a.cuh\"\n"}, {"parts/a.cuh", "int a;\n"}});
  std::filesystem::remove(folder / "parts/a.cuh");
  CHECK(
      contains(error_of([&] { (void)KernelTemplate::load(folder.path()); }), "sample.cu:1:1: the included file 'parts/a.cuh' is missing"));
}

TEST_CASE("a link out of the folder is no part of a template, one within it is, and the folder itself may be one") {
  const attune::test::TempFolder folder;
  const std::filesystem::path home = folder / "home";
  std::filesystem::create_directory(home);
  std::ofstream(home / "template.json") << sample_template();
  std::ofstream(home / "other.cu") << "int o;\n";
  std::ofstream(folder / "private") << "int secret;\n";
  std::filesystem::create_symlink("other.cu", home / "sample.cu");
  std::filesystem::create_symlink("home", folder / "link");
  CHECK(KernelTemplate::load(folder / "link").files == Files{{"sample.cu", "int o;\n"}});
  const auto error = [&] { return error_of([&] { (void)KernelTemplate::load(home); }); };
  std::filesystem::remove(home / "sample.cu");
  std::filesystem::create_symlink("../private", home / "sample.cu");
  CHECK(contains(error(), "outside of the template's folder; copy the file into it"));
  std::filesystem::remove(home / "sample.cu");
  std::ofstream(home / "sample.cu") << "#include \"parts/a.cuh\"\n";
  std::filesystem::create_directory_symlink("..", home / "parts");
  std::filesystem::rename(folder / "private", folder / "a.cuh");
  CHECK(contains(error(), "outside of the template's folder; copy the file into it"));
  std::ofstream(home / "sample.cu") << "\n";
  std::filesystem::create_symlink("../a.cuh", home / "ladder.json");
  CHECK(contains(error(), "ladder.json"));
  std::filesystem::rename(home / "template.json", folder / "b.json");
  std::filesystem::create_symlink("../b.json", home / "template.json");
  CHECK(contains(error(), "template.json"));
}

TEST_CASE("a table of defaults or a ladder that is there but no file is an error, none is none") {
  const attune::test::TempFolder folder;
  std::ofstream(folder / "template.json") << sample_template();
  std::ofstream(folder / "sample.cu") << "\n";
  CHECK_NOTHROW((void)KernelTemplate::load(folder.path()));
  for (const char* name : {"defaults.json", "ladder.json"}) {
    CAPTURE(name);
    const auto refused = [&] {
      return contains(error_of([&] { (void)KernelTemplate::load(folder.path()); }), std::string(name) + ": it is no file that can be read");
    };
    std::filesystem::create_symlink("nowhere", folder / name);
    CHECK(refused());
    std::filesystem::remove(folder / name);
    std::filesystem::create_directory(folder / name);
    CHECK(refused());
    std::filesystem::remove(folder / name);
  }
}

TEST_CASE("options that would read further files are refused") {
  for (const char* option :
       {"-I/opt/include", "--include-path=/opt", "-include=a.h", "--pre-include=a.h", "--use-pch=a.pch", "--options-file=a"}) {
    CAPTURE(option);
    CHECK(contains(sample_error(R"("work":)", std::string(R"("options": [")") + option + R"("], "work":)"),
                   "may not be given by a template, as it may read or write files"));
  }
  CHECK(sample_error(R"("work":)", R"("options": ["--use_fast_math", "-DX=1"], "work":)").empty());
}

}  // namespace test_includes
