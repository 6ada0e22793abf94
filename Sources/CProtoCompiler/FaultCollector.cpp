#include "FaultCollector.h"

#include <set>

namespace {

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
  return message.find("is not defined") != std::string::npos ||
         message.find("seems to be defined in") != std::string::npos;
}

/// Whether a fault is that nothing has this name.
bool saysAbsent(const Fault &fault) { return fault.line < 0 && fault.message == "File not found."; }

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
  std::set<std::string> withEdition, importers, imported, absent;
  for (const Fault &fault : raw) {
    if (fault.isWarning) continue;
    const std::string import = failedImport(fault.message);
    if (!import.empty()) imported.insert(import);
    else if (saysAbsent(fault)) absent.insert(fault.file);
  }
  // An import fails for faults of its own, or because what it imports does.
  for (const Fault &fault : raw) {
    const std::string import = failedImport(fault.message);
    if (!import.empty() && absent.count(import) == 0) importers.insert(fault.file);
  }

  std::vector<Fault> result;
  for (const Fault &fault : raw) {
    const SourceText *text = layers.text(fault.file);
    Fault out = fault;
    out.file = layers.diskPath(fault.file);
    if (text != nullptr && text->beginsWithEdition(out.line, out.column)) {
      out.isWarning = false;
      out.message = "Sources with \"edition\" cannot be read here";
      if (withEdition.insert(fault.file).second) result.push_back(out);
      continue;
    }
    const std::string import = failedImport(fault.message);
    if (!import.empty() && absent.count(import) == 0) continue;
    if (importers.count(fault.file) != 0 && saysUndefined(fault.message)) continue;
    // The place that imports it says it better.
    if (saysAbsent(fault) && imported.count(fault.file) != 0) continue;
    if (fault.line < 0) {
      out.line = 0;
      out.column = 0;
    } else {
      out.line = fault.line + 1;
      out.column = text == nullptr ? fault.column + 1 : text->characterColumn(fault.line, fault.column);
    }
    if (!import.empty()) out.message = "Import \"" + import + "\" was not found";
    result.push_back(out);
  }
  return result;
}
