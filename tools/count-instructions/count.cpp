//===- count.cpp - Counts the instructions that a program runs under QEMU --===//
//
// A plugin of qemu-user: qemu-aarch64 -plugin kiln_count.so,out=FILE PROGRAM writes their number to FILE when the program ends. It is the same number every
// time, and has nothing to do with the machine that runs the emulator. Debian packages no qemu-plugin.h; these few functions of its first version are all that
// is used.
//
//===----------------------------------------------------------------------===//
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>

extern "C" {
struct qemu_plugin_tb;
using Translated = void (*)(uint64_t id, qemu_plugin_tb *block);
using Ended = void (*)(uint64_t id, void *data);
void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t id, Translated callback);
size_t qemu_plugin_tb_n_insns(const qemu_plugin_tb *block);
void qemu_plugin_register_vcpu_tb_exec_inline(qemu_plugin_tb *block, int operation, void *number, uint64_t value);
void qemu_plugin_register_atexit_cb(uint64_t id, Ended callback, void *data);

__attribute__((visibility("default"))) int qemu_plugin_version = 1;
__attribute__((visibility("default"))) int qemu_plugin_install(uint64_t id, const void *info, int count, char **arguments);
}

static uint64_t executed;
static const char *path;

static void addBlock(uint64_t, qemu_plugin_tb *block) {
  constexpr int addsToNumber = 0;
  qemu_plugin_register_vcpu_tb_exec_inline(block, addsToNumber, &executed, qemu_plugin_tb_n_insns(block));
}

static void writeNumber(uint64_t, void *) {
  if (FILE *file = std::fopen(path, "w")) {
    std::fprintf(file, "%llu\n", static_cast<unsigned long long>(executed));
    std::fclose(file);
  }
}

int qemu_plugin_install(uint64_t id, const void *, int count, char **arguments) {
  if (count != 1 || std::strncmp(arguments[0], "out=", 4) != 0)
    return 1;
  path = strdup(arguments[0] + 4);
  qemu_plugin_register_vcpu_tb_trans_cb(id, addBlock);
  qemu_plugin_register_atexit_cb(id, writeNumber, nullptr);
  return 0;
}
