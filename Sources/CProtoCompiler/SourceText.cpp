#include "SourceText.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <utility>

namespace {

bool beginsCharacter(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }

bool isBlank(char byte) { return std::isspace(static_cast<unsigned char>(byte)) != 0; }

}  // namespace

SourceText::SourceText(std::string content) : text(std::move(content)), lineStarts{0} {
  for (size_t i = 0; i < text.size(); i++) {
    if (text[i] == '\n') lineStarts.push_back(i + 1);
  }
}

int SourceText::characterColumn(int line, int tokenizerColumn) const {
  if (line < 0 || static_cast<size_t>(line) >= lineStarts.size()) return tokenizerColumn + 1;
  int column = 0, characters = 0;
  for (size_t i = lineStarts[line]; i < text.size() && text[i] != '\n' && column < tokenizerColumn; i++) {
    column = text[i] == '\t' ? column + 8 - column % 8 : column + 1;
    if (beginsCharacter(text[i])) characters++;
  }
  return characters + 1;
}

int SourceText::depth() const {
  int depth = 0, deepest = 0;
  for (size_t i = 0; i < text.size();) {
    if (text[i] == '/' && skipComment(i) != i) {
      i = skipComment(i);
      continue;
    }
    if (text[i] == '"' || text[i] == '\'') {
      i = skipString(i);
      continue;
    }
    if (text[i] != '\0' && std::strchr("{[(<", text[i]) != nullptr) deepest = std::max(deepest, ++depth);
    if (text[i] != '\0' && std::strchr("}])>", text[i]) != nullptr) depth = std::max(0, depth - 1);
    i++;
  }
  return deepest;
}

bool SourceText::beginsWithEdition(int &line, int &column) const {
  const size_t start = skipBlanks(text.compare(0, 3, "\xEF\xBB\xBF") == 0 ? 3 : 0);
  if (text.compare(start, 7, "edition") != 0) return false;
  const size_t next = skipBlanks(start + 7);
  if (next >= text.size() || text[next] != '=') return false;
  const auto above = std::upper_bound(lineStarts.begin(), lineStarts.end(), start) - 1;
  line = static_cast<int>(above - lineStarts.begin()) + 1;
  column = 1 + static_cast<int>(std::count_if(text.begin() + *above, text.begin() + start, beginsCharacter));
  return true;
}

size_t SourceText::skipBlanks(size_t offset) const {
  while (offset < text.size()) {
    const size_t next = isBlank(text[offset]) ? offset + 1 : skipComment(offset);
    if (next == offset) return offset;
    offset = next;
  }
  return text.size();
}

size_t SourceText::skipComment(size_t offset) const {
  size_t end = offset;
  if (text.compare(offset, 2, "//") == 0) {
    end = text.find('\n', offset);
  } else if (text.compare(offset, 2, "/*") == 0) {
    end = text.find("*/", offset + 2);
    if (end != std::string::npos) end += 2;
  }
  return std::min(end, text.size());
}

size_t SourceText::skipString(size_t offset) const {
  const char quote = text[offset];
  for (size_t i = offset + 1; i < text.size(); i++) {
    // A string that does not end in its line is a fault, and what follows is text again.
    if (text[i] == quote || text[i] == '\n') return i + 1;
    if (text[i] == '\\') i++;
  }
  return text.size();
}
