//===- FoldWasmOffsets.h - Offsets in the loads of WebAssembly --------------===//
#ifndef KILN_COMPILER_EMIT_FOLDWASMOFFSETS_H
#define KILN_COMPILER_EMIT_FOLDWASMOFFSETS_H

namespace kiln {

/// Has objects of WebAssembly that this process makes from now on take constant offsets into their loads and stores. Without, every element of a tile needs an
/// addition of its own: loop strength reduction makes the addresses of an unrolled step from one of them and does not say that they do not wrap around.
void foldWasmOffsets();

} // namespace kiln

#endif // KILN_COMPILER_EMIT_FOLDWASMOFFSETS_H
