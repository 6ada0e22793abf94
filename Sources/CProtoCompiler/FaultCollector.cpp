#include "FaultCollector.h"

#include <cctype>
#include <map>
#include <set>

namespace {

/// The tokenizer counts bytes and advances to multiples of eight at tabs; people count characters.
int characterColumn(const std::string &text, int line, int tokenizerColumn) {
  size_t start = 0;
  for (int skipped = 0; skipped < line; skipped++) {
    const size_t end = text.find('\n', start);
    if (end == std::string::npos) return tokenizerColumn + 1;
    start = end + 1;
  }
  int column = 0, characters = 0;
  for (size_t i = start; i < text.size() && text[i] != '\n' && column < tokenizerColumn; i++) {
    column = text[i] == '\t' ? column + 8 - column % 8 : column + 1;
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) characters++;
  }
  return characters + 1;
}

/// The offset of the first token, behind blanks and comments.
size_t firstToken(const std::string &text) {
  size_t i = text.compare(0, 3, "\xEF\xBB\xBF") == 0 ? 3 : 0;
  while (i < text.size()) {
    if (std::isspace(static_cast<unsigned char>(text[i]))) {
      i++;
    } else if (text.compare(i, 2, "//") == 0) {
      i = text.find('\n', i);
    } else if (text.compare(i, 2, "/*") == 0) {
      i = text.find("*/", i + 2);
      if (i != std::string::npos) i += 2;
    } else {
      return i;
    }
    if (i == std::string::npos) break;
  }
  return text.size();
}

bool usesEdition(const std::string &text, Fault &fault) {
  const size_t start = firstToken(text);
  size_t next = start + 7;
  if (text.compare(start, 7, "edition") != 0) return false;
  while (next < text.size() && std::isspace(static_cast<unsigned char>(text[next]))) next++;
  if (next >= text.size() || text[next] != '=') return false;
  fault.line = 1;
  fault.column = 1;
  for (size_t i = 0; i < start; i++) {
    if (text[i] == '\n') {
      fault.line++;
      fault.column = 1;
    } else if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) {
      fault.column++;
    }
  }
  fault.isWarning = false;
  fault.message = "Sources with \"edition\" cannot be read here";
  return true;
}

/// The name in `Import "x" was not found or had errors.`; empty for other messages.
std::string failedImport(const std::string &message) {
  static const std::string before = "Import \"", after = "\" was not found or had errors.";
  if (message.size() <= before.size() + after.size() || message.compare(0, before.size(), before) != 0 ||
      message.compare(message.size() - after.size(), after.size(), after) != 0) {
    return "";
  }
  return message.substr(before.size(), message.size() - before.size() - after.size());
}

bool saysUndefined(const std::string &message) {
  return message.find("is not defined") != std::string::npos || message.find("seems to be defined in") != std::string::npos;
}

}  // namespace

void FaultCollector::add(const std::string &file, int line, int column, bool isWarning, const std::string &message) {
  raw.push_back(Fault{file, line, column, isWarning, message});
}

void FaultCollector::AddError(const std::string &file, int line, int column, const std::string &message) {
  add(file, line, column, false, message);
}

void FaultCollector::AddWarning(const std::string &file, int line, int column, const std::string &message) {
  add(file, line, column, true, message);
}

std::vector<Fault> FaultCollector::finish() {
  std::map<std::string, std::string> texts;
  std::set<std::string> withEdition, importers, imported, brokenInside, unreadable;
  for (const Fault &fault : raw) {
    if (texts.count(fault.file) == 0) texts[fault.file] = sourceText(layers, fault.file);
    if (fault.isWarning) continue;
    const std::string import = failedImport(fault.message);
    if (!import.empty()) imported.insert(import);
    else if (fault.line < 0) unreadable.insert(fault.file);
    else brokenInside.insert(fault.file);
  }
  // An import fails for faults of its own, or because what it imports does.
  for (const Fault &fault : raw) {
    const std::string import = failedImport(fault.message);
    if (!import.empty() && unreadable.count(import) == 0) importers.insert(fault.file);
  }

  std::vector<Fault> result;
  for (const Fault &fault : raw) {
    const std::string &text = texts[fault.file];
    Fault out = fault;
    out.file = layers.diskPath(fault.file);
    if (usesEdition(text, out)) {
      if (withEdition.insert(fault.file).second) result.push_back(out);
      continue;
    }
    const std::string import = failedImport(fault.message);
    if (!import.empty() && unreadable.count(import) == 0) continue;
    if (importers.count(fault.file) != 0 && saysUndefined(fault.message)) continue;
    if (fault.line < 0) {
      // The place that imports it says it better.
      if (imported.count(fault.file) != 0) continue;
      out.line = 0;
      out.column = 0;
    } else {
      out.line = fault.line + 1;
      out.column = characterColumn(text, fault.line, fault.column);
    }
    if (!import.empty()) out.message = "Import \"" + import + "\" was not found";
    result.push_back(out);
  }
  return result;
}
