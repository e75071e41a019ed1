#include "tuner/base/escape.hpp"

#include <doctest/doctest.h>

#include <string>

#include "tuner/base/json.hpp"

namespace test_escape {

using namespace attune::base;

namespace {

std::string utf8(char32_t code) {
  std::string text;
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | code >> 6), put(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    put(0xE0 | code >> 12), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  } else {
    put(0xF0 | code >> 18), put(0x80 | (code >> 12 & 0x3F)), put(0x80 | (code >> 6 & 0x3F)), put(0x80 | (code & 0x3F));
  }
  return text;
}

/// What no text shown on a terminal may hold: the characters that the issue names, written down apart from the code.
bool harmless(const std::string& text) {
  for (char32_t code = 0; code < 0xA0; ++code) {
    const bool control = code < 0x20 || code >= 0x7F;
    if (control && code != '\n' && code != '\t' && text.find(utf8(code)) != std::string::npos) return false;
  }
  for (char32_t code = 0x202A; code <= 0x202E; ++code) {
    if (text.find(utf8(code)) != std::string::npos) return false;
  }
  for (char32_t code = 0x2066; code <= 0x2069; ++code) {
    if (text.find(utf8(code)) != std::string::npos) return false;
  }
  return true;
}

std::string everything() {
  std::string text;
  for (char32_t code = 0; code < 0x3000; ++code) text += utf8(code);
  for (int byte = 0x80; byte < 0x100; ++byte) text += std::string("a") + static_cast<char>(byte);
  return text;
}

}  // namespace

TEST_CASE("ordinary text stays as it is, whatever its language") {
  for (const std::string& text :
       {std::string("NVIDIA H200, 4096 µs, 2^20"), std::string("Größe \xe4\xbd\xa0\xe5\xa5\xbd \xd7\xa9 \xf0\x9f\x9a\x80"),
        std::string("a\\x1b \\n \\u202e")}) {
    CAPTURE(text);
    CHECK(escape_line(text) == text);
    CHECK(escape_lines(text + "\n\tmore") == text + "\n\tmore");
  }
}

TEST_CASE("what acts is shown by its number: escape sequences, C1, changes of direction, bytes that are no UTF-8") {
  CHECK(escape_line("\x1b[31mred\x07\x7f") == "\\x1b[31mred\\x07\\x7f");
  CHECK(escape_line("\xc2\x9b"
                    "31m") == "\\u009b31m");
  CHECK(escape_line("\x9b"
                    "31m") == "\\x9b31m");
  CHECK(escape_line(utf8(0x202E) + "cba") == "\\u202ecba");
  CHECK(escape_line(utf8(0xE0041)) == "\\U000e0041");
  CHECK(escape_line("a\nb\r\tc") == "a\\nb\\r\\tc");
  CHECK(escape_lines("a\nb\r\tc") == "a\nb\\r\tc");
  CHECK(escape_line(std::string_view("\0", 1)) == "\\x00");
  // Cut, overlong, a surrogate, beyond the last character.
  CHECK(escape_line("\xe2\x80") == "\\xe2\\x80");
  CHECK(escape_line("\xc0\x9b") == "\\xc0\\x9b");
  CHECK(escape_line("\xe0\x82\x9b") == "\\xe0\\x82\\x9b");
  CHECK(escape_line("\xed\xa0\x80") == "\\xed\\xa0\\x80");
  CHECK(escape_line("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");
}

TEST_CASE("no character comes through any of the functions that act on a terminal, and escaping again changes nothing") {
  const std::string text = everything();
  for (const auto escape : {escape_line, escape_lines}) {
    const std::string once = escape(text);
    CHECK(harmless(once));
    CHECK(escape(once) == once);
  }
  CHECK(harmless(escape_html(text)));
  CHECK(harmless(escape_markdown(text)));
  CHECK(harmless(escape_csv(text)));
}

TEST_CASE("JSON with escapes is the same JSON, and harmless on a terminal and in a script element") {
  std::string text;
  for (char32_t code = 0; code < 0x3000; ++code) text += utf8(code);
  text += utf8(0xE0041) + utf8(0x1F680) + "</script><!-- ]]>";
  const std::string json = dump_json(nlohmann::json{{text, text}}, 1);
  for (const auto escape : {escape_json, escape_script_json}) {
    const std::string escaped = escape(json);
    CHECK(harmless(escaped));
    CHECK(parse_json(escaped) == parse_json(json));
  }
  const std::string script = escape_script_json(json);
  CHECK(script.find_first_of("<>&") == std::string::npos);
  CHECK(script.find(utf8(0x2028)) == std::string::npos);
  CHECK(script.find(utf8(0x1F680)) != std::string::npos);
}

TEST_CASE("HTML: neither content nor a quoted attribute is left") {
  CHECK(escape_html("<a href=\"x\" on='y'>&amp;\n\x1b") == "&lt;a href=&quot;x&quot; on=&#39;y&#39;&gt;&amp;amp;\n\\x1b");
}

TEST_CASE("Markdown: no character is markup, and words with underscores stay readable") {
  CHECK(escape_markdown("block_size=256, grid_stage=ticket") == "block_size=256, grid_stage=ticket");
  CHECK(escape_markdown("__bold__ *x*") == "\\_\\_bold\\_\\_ \\*x\\*");
  CHECK(escape_markdown("a|b\\|c") == "a\\|b\\\\\\|c");
  CHECK(escape_markdown("`code` ~~x~~") == "\\`code\\` \\~\\~x\\~\\~");
  CHECK(escape_markdown("<script>&lt;") == "&lt;script&gt;&amp;lt;");
  CHECK(escape_markdown("![i](javascript:x)") == "!\\[i\\](javascript:x)");
  CHECK(escape_markdown("https://evil www.evil") == "https:\\/\\/evil www\\.evil");
  CHECK(escape_markdown("# head\n- list") == "\\# head - list");
  CHECK(escape_markdown("    code") == "code");
  CHECK(escape_markdown("- list") == "\\- list");
  CHECK(escape_markdown("1. list") == "1\\. list");
  CHECK(escape_markdown("-1.5") == "-1.5");
  CHECK(escape_markdown("12.50") == "12.50");
  CHECK(escape_markdown("-") == "-");
}

TEST_CASE("CSV: quotes where they are needed, and no formula") {
  CHECK(escape_csv("plain") == "plain");
  CHECK(escape_csv("a,b") == "\"a,b\"");
  CHECK(escape_csv("say \"x\"\n") == "\"say \"\"x\"\"\n\"");
  for (const char* formula : {"=1+1", "+1", "-1", "@SUM(A1)"}) CHECK(escape_csv(formula) == std::string("'") + formula);
  CHECK(escape_csv("\t=1") == "\"'\t=1\"");
}

}  // namespace test_escape
