#pragma once
#include <string>
#include <string_view>

namespace attune::base {

// Text out of files (databases, recordings, templates) may hold anything. Where people read it, characters that act instead of
// being seen are shown by their numbers: control characters (C0, DEL, C1), what turns the direction of writing or has no width,
// separators of lines and paragraphs, and bytes that are no UTF-8. "\x1b" is a control character or a byte, "\u202e" any other.
// A text without them stays as it is, backslashes too; the escaped text escapes to itself.

/// For a name or a cell: line ends and tabs are shown as "\n", "\r" and "\t".
[[nodiscard]] std::string escape_line(std::string_view text);
/// For logs, sources and messages of several lines: line ends ("\n") and tabs stay.
[[nodiscard]] std::string escape_lines(std::string_view text);

/// A JSON text with the same characters as JSON escapes, which mean the same text to every reader. C0 never occurs in JSON.
[[nodiscard]] std::string escape_json(std::string_view json);
/// The same for a <script> element: no character can end the element or start markup.
[[nodiscard]] std::string escape_script_json(std::string_view json);

/// For an element's content or a quoted attribute of HTML; line ends stay.
[[nodiscard]] std::string escape_html(std::string_view text);
/// For a heading, a table cell or a paragraph of GitHub's Markdown, on one line: no character is markup, a link or HTML.
[[nodiscard]] std::string escape_markdown(std::string_view text);
/// For a field of CSV that is no number, quoted where needed (RFC 4180). One that a spreadsheet would take for a formula (= + - @,
/// a tab) begins with an apostrophe.
[[nodiscard]] std::string escape_csv(std::string_view text);

/// For a word of a command line: a POSIX shell reads it back as it was.
[[nodiscard]] std::string shell_quoted(std::string_view word);

}  // namespace attune::base
