//===- BuildId.cpp - Which build of Kiln this is ----------------------------===//
#include "compiler/emit/BuildId.h"

#include "llvm/Support/MathExtras.h"
#include <elf.h>
#include <link.h>

using namespace llvm;

namespace kiln {

/// The build ID among the notes of a segment; empty if there is none.
static StringRef findBuildId(StringRef notes) {
  while (notes.size() >= sizeof(ElfW(Nhdr))) {
    auto *header = reinterpret_cast<const ElfW(Nhdr) *>(notes.data());
    size_t nameBytes = alignTo(header->n_namesz, 4), valueBytes = alignTo(header->n_descsz, 4);
    notes = notes.drop_front(sizeof(*header));
    if (header->n_type == NT_GNU_BUILD_ID && notes.starts_with(StringRef("GNU", 4)))
      return notes.substr(nameBytes, header->n_descsz);
    notes = notes.drop_front(std::min(nameBytes + valueBytes, notes.size()));
  }
  return "";
}

static int visitProgram(dl_phdr_info *program, size_t, void *result) {
  for (const ElfW(Phdr) &segment : ArrayRef(program->dlpi_phdr, program->dlpi_phnum)) {
    auto *start = reinterpret_cast<const char *>(program->dlpi_addr + segment.p_vaddr);
    if (StringRef found = segment.p_type == PT_NOTE ? findBuildId(StringRef(start, segment.p_memsz)) : ""; !found.empty())
      *static_cast<StringRef *>(result) = found;
  }
  // The program itself comes first.
  return 1;
}

StringRef buildId() {
  StringRef result;
  dl_iterate_phdr(visitProgram, &result);
  return result;
}

} // namespace kiln
