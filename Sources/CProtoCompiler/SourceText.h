#pragma once

#include <string>
#include <vector>

/// The text of a source, for questions about its form and for places in it.
class SourceText {
 public:
  const std::string text;

  explicit SourceText(std::string content);

  /// The column in characters, from 1, of a place as the tokenizer gives it: lines and columns from 0, the columns in
  /// bytes and at tabs advanced to multiples of eight.
  int characterColumn(int line, int tokenizerColumn) const;

  /// How deep brackets of all kinds are nested, outside strings and comments.
  int depth() const;

  /// Whether it begins with `edition =`, and where that stands: line and column from 1.
  bool beginsWithEdition(int &line, int &column) const;

 private:
  /// The offset behind blanks and comments.
  size_t skipBlanks(size_t offset) const;
  size_t skipComment(size_t offset) const;
  size_t skipString(size_t offset) const;

  std::vector<size_t> lineStarts;
};
