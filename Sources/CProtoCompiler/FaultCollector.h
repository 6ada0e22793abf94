#pragma once

#include <google/protobuf/compiler/importer.h>

#include <string>
#include <vector>

#include "SourceLayers.h"

/// A fault with owned text; lines and columns from 1, 0 for none.
struct Fault {
  std::string file;
  int line;
  int column;
  bool isWarning;
  std::string message;
};

/// Gathers what the compiler reports, and turns it into what a person can act on.
class FaultCollector : public google::protobuf::compiler::MultiFileErrorCollector {
 public:
  explicit FaultCollector(SourceLayers &layers) : layers(layers) {}

  void AddError(const std::string &file, int line, int column, const std::string &message) override;
  void AddWarning(const std::string &file, int line, int column, const std::string &message) override;

  /// The faults in the order of their discovery, without those that only follow from others: an import that has
  /// faults of its own, and what is undefined because of it. Sources with `edition` have one fault that says so.
  std::vector<Fault> finish();

 private:
  void add(const std::string &file, int line, int column, bool isWarning, const std::string &message);

  SourceLayers &layers;
  /// With import names as files and lines and columns as the compiler gives them.
  std::vector<Fault> raw;
};
