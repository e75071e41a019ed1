// Arrays in files beside template.json.
#include <doctest/doctest.h>

#include <filesystem>

#include "spec_support.hpp"
#include "tests/support/npy.hpp"
#include "tests/support/temp_folder.hpp"
#include "tests/support/write_bytes.hpp"
#include "tuner/base/file_pieces.hpp"
#include "tuner/base/hash.hpp"
#include "tuner/spec/data_file.hpp"

namespace test_data_files {

using namespace attune;
using namespace attune::spec;
using namespace attune::spec::test;
using attune::test::npy_bytes;
using attune::test::npy_of;
using attune::test::raw_bytes;

namespace {

constexpr const char* kTemplate = R"json({
  "attune": 1, "name": "scale", "sources": ["scale.cu"],
  "problem": {"n": {"size": {"file": "in.npy", "dimension": 1}}},
  "parameters": {"block_size": {"values": [64, 128], "default": 128}},
  "buffers": {"in": {"type": "f32", "count": "2 * n", "fill": {"file": "in.npy"}},
              "weights": {"type": "f64", "count": "n", "fill": {"file": "weights.bin"}},
              "out": {"type": "f32", "count": "2 * n", "output": true}},
  "launches": [{"kernel": "scale", "grid": 1, "block": "block_size", "args": ["in", "weights", "out"]}],
  "reference": {"outputs": {"out": "wanted/out.npy"}, "tolerance": 1e-5}
})json";

struct Folder {
  attune::test::TempFolder folder;
  std::filesystem::path path = folder.path();

  void write(const std::string& name, const std::string& bytes) const {
    std::filesystem::create_directories((path / name).parent_path());
    attune::test::write_bytes(path / name, bytes);
  }
  [[nodiscard]] std::string refusal(const std::string& bytes) const {
    write("refused.npy", bytes);
    return error_of([&] { static_cast<void>(read_data_file(path / "refused.npy")); });
  }
};

/// As read_elements tells them.
std::string elements_of(const std::filesystem::path& path, const DataFile& file) {
  std::string elements;
  read_elements(path, file, [&](std::size_t at, std::string_view piece) {
    CHECK(at == elements.size());
    elements += piece;
  });
  return elements;
}

struct Template : Folder {
  Template() {
    write("template.json", kTemplate);
    write("scale.cu", "");
    write("in.npy", npy_of<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, 6}));
    write("weights.bin", raw_bytes<double>({1, 2, 3}));
    write("wanted/out.npy", npy_of<float>("<f4", "(6,)", {2, 4, 6, 8, 10, 12}));
  }
  [[nodiscard]] KernelTemplate load() const { return KernelTemplate::load(path); }
  [[nodiscard]] std::string error_with(const std::string& from, const std::string& to) const {
    write("template.json", attune::test::replaced(kTemplate, from, to));
    return error_of([&] { static_cast<void>(load()); });
  }
};

}  // namespace

TEST_CASE_FIXTURE(Folder, "numpy's files say type, shape and where their elements begin") {
  const std::string bytes = npy_of<std::int32_t>("<i4", "(2, 3)", {1, 2, 3, 4, 5, 6});
  write("a.npy", bytes);
  const DataFile file = read_data_file(path / "a.npy");
  CHECK(file.type == ElementType::I32);
  CHECK(file.shape == std::vector<std::int64_t>{2, 3});
  CHECK(file.bytes == 24);
  CHECK(file.offset + file.bytes == static_cast<std::int64_t>(bytes.size()));
  CHECK(elements_of(path / "a.npy", file) == raw_bytes<std::int32_t>({1, 2, 3, 4, 5, 6}));
}

TEST_CASE_FIXTURE(Folder, "a number alone, an empty array and types of 1, 2 and 8 bytes are read") {
  write("a.npy", npy_of<double>("<f8", "()", {1}));
  CHECK(read_data_file(path / "a.npy").shape.empty());
  CHECK(read_data_file(path / "a.npy").bytes == 8);
  write("a.npy", npy_of<float>("<f4", "(0, 5)", {}));
  CHECK(read_data_file(path / "a.npy").bytes == 0);
  write("a.npy", npy_of<std::uint8_t>("|b1", "(2,)", {0, 1}));
  CHECK(read_data_file(path / "a.npy").type == ElementType::U8);
  write("a.npy", npy_of<std::uint16_t>("<f2", "(1,)", {0x3c00}));
  CHECK(read_data_file(path / "a.npy").type == ElementType::F16);
  write("a.npy", npy_of<std::uint16_t>("|V2", "(1,)", {0x3f80}));  // bfloat16, which numpy has no name for
  CHECK_FALSE(read_data_file(path / "a.npy").type.has_value());
  CHECK(read_data_file(path / "a.npy").element_bytes == 2);
}

TEST_CASE_FIXTURE(Template, "an array that cannot be read is told where template.json names it") {
  write("in.npy", npy_bytes("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }", std::string(24, '0')));
  const std::string told = error_of([&] { static_cast<void>(load()); });
  CHECK(contains(told, "template.json:"));
  CHECK(contains(told, ": failed reading the array: "));
  CHECK(contains(told, "in.npy: its columns stand one behind the other; save numpy.ascontiguousarray(array)"));
  CHECK_FALSE(contains(told, "template.json: "));  // line and column
}

TEST_CASE_FIXTURE(Folder, "what is no array that a kernel takes is refused with a remedy") {
  CHECK(contains(refusal("no array at all"), "does not begin as numpy's files do"));
  CHECK(contains(refusal(npy_of<float>(">f4", "(1,)", {1})), "another byte order"));
  CHECK(contains(refusal(npy_of<float>("<U1", "(1,)", {1})), "of type '<U1', which no kernel takes"));
  CHECK(contains(refusal(npy_of<double>("|O", "(1,)", {1})), "its elements are objects of Python ('|O'), which cannot be read"));
  CHECK(contains(refusal(npy_of<double>("|O", "(1,)", {1})), "array.astype('float32')"));
  CHECK(contains(refusal(npy_of<float>("<f4", "(2,)", {1})), "its header says 8 bytes of elements, and 4 follow"));
  CHECK(contains(refusal(npy_of<float>("<f4", "(-1,)", {1})), "its shape is none"));
  CHECK(contains(refusal(npy_of<float>("<f4", "(281474976710656, 281474976710656)", {1})), "larger than any memory"));
  CHECK(
      contains(refusal(npy_bytes("{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234")),
               "records of several fields; save each field by itself or, for a buffer of structs, the bytes of the records: array.view("));
  CHECK(contains(refusal(npy_bytes("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }", std::string(16, '0'))),
                 "numpy.ascontiguousarray"));
  CHECK(contains(refusal(npy_bytes("{'fortran_order': False, 'shape': (1,), }", "1234")), "says no 'descr'"));
  CHECK(contains(refusal(npy_of<float>("<f4", "(1,)", {1}).substr(0, 40)), "cut off"));
  CHECK(contains(error_of([&] { static_cast<void>(read_data_file(path)); }), "it is no file, but a folder"));
  CHECK(contains(error_of([&] { static_cast<void>(read_data_file(path / "none.npy")); }), "ENOENT"));
}

TEST_CASE_FIXTURE(Folder, "an array that is larger than a piece of its file is read whole") {
  std::vector<std::int32_t> values(base::FilePieces::kPieceBytes / 2);  // two pieces, and what the header pushes into a third
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::int32_t>(i);
  const std::string bytes = npy_of<std::int32_t>("<i4", "(" + std::to_string(values.size()) + ",)", values);
  write("a.npy", bytes);
  const DataFile file = read_data_file(path / "a.npy");
  CHECK(file.digest == base::content_key(bytes));
  CHECK((elements_of(path / "a.npy", file) == raw_bytes(values)));  // no text of megabytes where it fails
}

TEST_CASE_FIXTURE(Folder, "versions 1.0, 2.0 and 3.0 of numpy's format are read, and no other") {
  const std::string first = npy_of<float>("<f4", "(1,)", {1});
  const auto of_version = [&](char major, char minor) {  // later ones than the first have four bytes of the header's length
    std::string bytes = first;
    bytes[6] = major;
    bytes[7] = minor;
    return major == 1 ? bytes : bytes.insert(10, 2, '\0');
  };
  for (const char major : {'\1', '\2', '\3'}) {
    CAPTURE(static_cast<int>(major));
    write("a.npy", of_version(major, 0));
    CHECK(read_data_file(path / "a.npy").shape == std::vector<std::int64_t>{1});
  }
  CHECK(
      contains(refusal(of_version(0, 0)), "refused.npy: it is of version 0.0 of numpy's format, which has 1.0, 2.0 and 3.0; save it anew"));
  CHECK(contains(refusal(of_version(4, 0)), "version 4.0"));
  CHECK(contains(refusal(of_version(9, 0)), "version 9.0"));
  CHECK(contains(refusal(of_version(1, 1)), "version 1.1"));
  CHECK(contains(refusal(of_version(2, 0).substr(0, 11)), "cut off"));
}

TEST_CASE_FIXTURE(Folder, "a file that is another one later is not taken for the first") {
  write("a.npy", npy_of<float>("<f4", "(2,)", {1, 2}));
  const DataFile file = read_data_file(path / "a.npy");
  write("a.npy", npy_of<float>("<f4", "(2,)", {1, 3}));
  CHECK(contains(error_of([&] { static_cast<void>(elements_of(path / "a.npy", file)); }),
                 "it is another file than when the template was read"));
}

TEST_CASE_FIXTURE(Template, "a template's arrays fill inputs, say what outputs must be and how large a size is") {
  const KernelTemplate kernel = load();
  CHECK(kernel.problem[0].min == 3);
  CHECK(kernel.problem[0].max == 3);
  CHECK(kernel.problem[0].default_size == 3);
  CHECK(kernel.buffers[0].data.value().file == "in.npy");
  CHECK(kernel.data.at("weights.bin").bytes == 24);
  CHECK(kernel.reference.kind == ReferenceSpec::Kind::Files);
  CHECK(kernel.reference.wanted.at("out").file == "wanted/out.npy");
  CHECK(kernel.reference.tolerance.relative == 1e-5);
  CHECK(uses_data_files(kernel));
  CHECK(data_path(kernel, "in.npy") == path / "in.npy");
}

TEST_CASE_FIXTURE(Template, "what stands for an array travels in its place, and its contents are the template's identity") {
  const KernelTemplate kernel = load();
  CHECK(kernel.parts().at("in.npy").size() < 300);
  const KernelTemplate again = KernelTemplate::parse(kernel.spec_text, kernel.parts(), kernel.spec_path);
  CHECK(again.content_hash == kernel.content_hash);
  CHECK(again.data == kernel.data);
  write("in.npy", npy_of<float>("<f4", "(2, 3)", {1, 2, 3, 4, 5, 7}));
  CHECK(load().content_hash != kernel.content_hash);
}

TEST_CASE_FIXTURE(Template, "arrays that are not there or not meant are told at their place") {
  CHECK(contains(error_with(R"("fill": {"file": "weights.bin"})", R"("fill": {"file": "weigths.bin"})"),
                 "template.json:6:73: the file 'weigths.bin' is missing; it belongs beside template.json"));
  CHECK(contains(error_with(R"({"file": "weights.bin"})", R"({"file": "../weights.bin"})"), "must be a path inside the template's folder"));
  CHECK(contains(error_with(R"({"file": "weights.bin"})", R"({"file": "scale.cu"})"), "'scale.cu' is no array"));
  CHECK(contains(error_with(R"("dimension": 1)", R"("dimension": 2)"), "has no dimension 2: its file has 2, counted from 0"));
  CHECK(contains(error_with(R"({"file": "in.npy", "dimension": 1})", R"({"file": "weights.bin"})"), "cannot follow from raw elements"));
  CHECK(contains(error_with(R"("dimension": 1)", R"("dimension": 1, "max": 5)"), "is what the file says; remove \"max\""));
  CHECK(contains(error_with(R"("fill": {"file": "weights.bin"})", R"("fill": "uniform")"),
                 "files can only say what is right for known inputs, and 'weights' is filled with random numbers"));
  CHECK(contains(error_with(R"({"out": "wanted/out.npy"})", R"({"weights": "wanted/out.npy"})"), "names 'weights', which is no output"));
  CHECK(contains(error_with(R"({"out": "wanted/out.npy"})", "{}"), "\"outputs\" names none"));
  CHECK(contains(error_with(R"({"outputs")", R"({"builtin": "reduce", "outputs")"), "remove the tolerance"));
}

TEST_CASE_FIXTURE(Template, "an array that is a link out of the template's folder is refused, and one within it is taken") {
  const attune::test::TempFolder elsewhere;
  attune::test::write_bytes(elsewhere / "private.bin", raw_bytes<double>({1, 2, 3}));
  std::filesystem::remove(path / "weights.bin");
  std::filesystem::create_symlink(elsewhere / "private.bin", path / "weights.bin");
  const std::string told = error_of([&] { static_cast<void>(load()); });
  CHECK(contains(told, "weights.bin: it is '"));
  CHECK(contains(told, "outside of the template's folder; copy the file into it"));
  std::filesystem::remove(path / "weights.bin");
  write("arrays/weights.bin", raw_bytes<double>({1, 2, 3}));
  std::filesystem::create_symlink("arrays/weights.bin", path / "weights.bin");
  CHECK(load().data.at("weights.bin").bytes == 24);
  std::filesystem::remove(path / "weights.bin");
  std::filesystem::create_directory(path / "weights.bin");
  CHECK(contains(error_of([&] { static_cast<void>(load()); }), "it is no file that can be read"));
}

TEST_CASE_FIXTURE(Template, "a part of the template is no array of it, however its path is written") {
  for (const char* const part : {"template.json", "defaults.json", "ladder.json", "reference.json"}) {
    for (const char* const way : {"", "./", ".//./"}) {
      const std::string named = std::string(way) + part;
      CAPTURE(named);
      CHECK(contains(error_with(R"({"file": "weights.bin"})", R"({"file": ")" + named + "\"}"),
                     "template.json:6:73: the file '" + std::string(part) +
                         "' is no array, but a part of the template itself; give the array another name"));
    }
  }
  CHECK(contains(error_with(R"({"file": "weights.bin"})", R"({"file": "./scale.cu"})"), "template.json:6:73: 'scale.cu' is no array"));
}

TEST_CASE_FIXTURE(Template, "an array has one name, however its path is written") {
  write("template.json", attune::test::replaced(kTemplate, R"({"file": "weights.bin"})", R"({"file": ".//weights.bin"})"));
  const KernelTemplate kernel = load();
  CHECK(kernel.buffers[1].data.value().file == "weights.bin");
  CHECK(kernel.files.contains("weights.bin"));
}

TEST_CASE_FIXTURE(Template, "a zero byte in the name of a file is told at its place") {
  CHECK(contains(error_with(R"({"file": "weights.bin"})", R"({"file": "wei\u0000ghts.bin"})"),
                 "template.json:6:73: the name of the file of the buffer 'weights' has a zero byte in it, behind 'wei'"));
  CHECK(contains(error_with(R"(["scale.cu"])", R"(["scale\u0000.cu"])"),
                 "template.json:2:45: the name of a source has a zero byte in it, behind 'scale'"));
}

TEST_CASE_FIXTURE(Template, "a tolerance of an output that no file answers is told at its place") {
  const std::string more = R"("out": {"type": "f32", "count": "2 * n", "output": true})";
  const std::string two = attune::test::replaced(kTemplate, more, more + R"(, "left": {"type": "f32", "count": 1, "output": true})");
  const auto with = [&](const std::string& tolerance) {
    write("template.json", attune::test::replaced(two, "1e-5", tolerance));
    return error_of([&] { static_cast<void>(load()); });
  };
  CHECK(with(R"({"out": 1e-5})").empty());
  CHECK(contains(with(R"({"out": 1e-5, "left": 1e-5})"),
                 "template.json:9:82: \"tolerance\" names 'left', which no file says anything of; "
                 "remove it, or name a file for it in \"outputs\""));
}

TEST_CASE("patterns of fills are read, and what is none is told at its place") {
  const auto fill = [](const std::string& text) {
    return parse_sample(attune::test::replaced(sample_template(), R"("in": {"type": "T", "count": "n"})",
                                               R"("in": {"type": "T", "count": "n", "fill": )" + text + "}"))
        .buffers[0];
  };
  CHECK(fill(R"("index")").fill == Fill::Index);
  CHECK(fill(R"("permutation")").fill == Fill::Permutation);
  CHECK(fill(R"({"range": [0, "n // 2"]})").fill_bounds.size() == 2);
  CHECK(fill(R"({"offsets": "4 * n"})").fill == Fill::Offsets);
  CHECK(fill(R"({"value": 2.5})").fill == Fill::Constant);
  CHECK(fill(R"({"value": -2})").fill_bounds.at(0).text() == "-2");
  CHECK(fill(R"("index")").fill_position.line == 20);
  CHECK(fill(R"("index")").fill_position.column == 47);
  CHECK(contains(error_of([&] { fill(R"({"range": [0]})"); }), "a range is two numbers, [from, below]"));
  CHECK(contains(error_of([&] { fill("{}"); }), R"("fill" must be one of {"file": ...})"));
  CHECK(contains(error_of([&] { fill(R"({"value": 1, "offsets": 2})"); }), R"("fill" must be one of {"file": ...})"));
  CHECK(contains(error_of([&] { fill(R"({"ranje": [0, 1]})"); }), "did you mean 'range'?"));
  CHECK(contains(error_of([&] { fill(R"({"value": "block_size"})"); }), "types, choices and sizes"));
}

}  // namespace test_data_files
