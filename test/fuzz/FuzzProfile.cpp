//===- FuzzProfile.cpp - Any bytes as a profile ----------------------------===//
#include "compiler/Profile.h"
#include "test/fuzz/Target.h"

using namespace kiln;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  llvm::Expected<std::vector<ProfileEntry>> entries = parseProfile(llvm::StringRef(reinterpret_cast<const char *>(data), size));
  if (!entries) {
    expectReason(entries.takeError());
    return 0;
  }
  llvm::Expected<std::vector<ProfileEntry>> again = parseProfile(printProfile(*entries));
  if (!again)
    expectReason(again.takeError(), "what was printed is no profile");
  else
    expect(again->size() == entries->size(), "what was printed has other entries");
  return 0;
}
