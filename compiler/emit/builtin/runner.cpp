// The program around a model for machines other than the one that compiles: it reads one request from the standard input and writes the answer to the standard
// output. It needs no C library, so any linker makes it. compiler/run/Program.h describes requests and answers; the model's name, and whether its functions
// take dimensions and weights, stand in front of this text as macros.
#include "kiln/abi.h"

#if KILN_DIMS
#define KILN_WITH_DIMS(...) __VA_ARGS__,
#define KILN_DIMS_ONLY(...) __VA_ARGS__
#else
#define KILN_WITH_DIMS(...)
#define KILN_DIMS_ONLY(...)
#endif
#if KILN_WEIGHTS
#define KILN_WITH_WEIGHTS(...) __VA_ARGS__,
#else
#define KILN_WITH_WEIGHTS(...)
#endif

extern "C" {
extern const kiln_model_info model_info __asm__(KILN_MODEL "_info");
const char *model_target(void) __asm__(KILN_MODEL "_target");
kiln_status model_run(KILN_WITH_DIMS(int64_t *) const void *const *, char *const *, KILN_WITH_WEIGHTS(const char *) void *,
                      const kiln_context *) __asm__(KILN_MODEL "_run");
size_t model_workspace_size(KILN_DIMS_ONLY(const int64_t *)) __asm__(KILN_MODEL "_workspace_size");

#if defined(__wasm__)
// The system is WASI.
struct Piece {
  const void *at;
  size_t bytes;
};
#define KILN_WASI(name) __attribute__((import_module("wasi_snapshot_preview1"), import_name(name)))
KILN_WASI("fd_read") int32_t wasi_read(int32_t file, const Piece *pieces, size_t count, size_t *done);
KILN_WASI("fd_write") int32_t wasi_write(int32_t file, const Piece *pieces, size_t count, size_t *done);
KILN_WASI("clock_time_get") int32_t wasi_clock(int32_t clock, uint64_t precision, int64_t *nanoseconds);
KILN_WASI("proc_exit") [[noreturn]] void wasi_exit(int32_t status);
extern char __heap_base;
#endif
}

namespace {

#if defined(__x86_64__)
enum : int64_t { callRead = 0, callWrite = 1, callMap = 9, callClock = 228, callExit = 231 };
int64_t callSystem(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d = 0, int64_t e = 0, int64_t f = 0) {
  register int64_t r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
  __asm__ volatile("syscall" : "+a"(number) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return number;
}
__asm__(".globl _start\n_start:\n  xorl %ebp, %ebp\n  movq %rsp, %rdi\n  andq $-16, %rsp\n  call kiln_answer\n");
#elif defined(__aarch64__)
enum : int64_t { callRead = 63, callWrite = 64, callExit = 94, callClock = 113, callMap = 222 };
int64_t callSystem(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d = 0, int64_t e = 0, int64_t f = 0) {
  register int64_t x8 __asm__("x8") = number, x0 __asm__("x0") = a, x1 __asm__("x1") = b, x2 __asm__("x2") = c;
  register int64_t x3 __asm__("x3") = d, x4 __asm__("x4") = e, x5 __asm__("x5") = f;
  __asm__ volatile("svc 0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}
__asm__(".globl _start\n_start:\n  mov x29, #0\n  mov x30, #0\n  mov x0, sp\n  bl kiln_answer\n");
#elif defined(__riscv) && __riscv_xlen == 64
enum : int64_t { callRead = 63, callWrite = 64, callExit = 94, callClock = 113, callMap = 222 };
int64_t callSystem(int64_t number, int64_t a, int64_t b, int64_t c, int64_t d = 0, int64_t e = 0, int64_t f = 0) {
  register int64_t a7 __asm__("a7") = number, a0 __asm__("a0") = a, a1 __asm__("a1") = b, a2 __asm__("a2") = c;
  register int64_t a3 __asm__("a3") = d, a4 __asm__("a4") = e, a5 __asm__("a5") = f;
  __asm__ volatile("ecall" : "+r"(a0) : "r"(a7), "r"(a1), "r"(a2), "r"(a3), "r"(a4), "r"(a5) : "memory");
  return a0;
}
__asm__(".globl _start\n_start:\n  mv a0, sp\n  andi sp, sp, -16\n  call kiln_answer\n");
#elif !defined(__wasm__)
#error "no system calls are known for this machine"
#endif

//===- The system -------------------------------------------------------------===//

#if defined(__wasm__)
[[noreturn]] void stop(int32_t status) { wasi_exit(status); }

// Like the system calls: the bytes that were done, or none and an error.
int64_t moveBytes(int32_t (*call)(int32_t, const Piece *, size_t, size_t *), int32_t file, const void *at, uint64_t bytes) {
  const Piece piece = {at, size_t(bytes)};
  size_t done = 0;
  return call(file, &piece, 1, &done) == 0 ? int64_t(done) : -1;
}
int64_t readSome(void *to, uint64_t bytes) { return moveBytes(wasi_read, 0, to, bytes); }
int64_t writeSome(const void *from, uint64_t bytes) { return moveBytes(wasi_write, 1, from, bytes); }

// Memory that has never been used is zero.
char *mapMemory(uint64_t bytes) {
  constexpr uint64_t page = 65536, most = 65536 * page;
  static uint64_t used = 0;
  const uint64_t start = reinterpret_cast<size_t>(&__heap_base), at = (start + used + KILN_ALIGNMENT - 1) / KILN_ALIGNMENT * KILN_ALIGNMENT;
  const uint64_t have = __builtin_wasm_memory_size(0) * page;
  if (at >= most || bytes > most - at)
    stop(3);
  used = at + bytes - start;
  if (at + bytes > have && __builtin_wasm_memory_grow(0, size_t((at + bytes - have + page - 1) / page)) == size_t(-1))
    stop(3);
  return reinterpret_cast<char *>(size_t(at));
}

int64_t readClock() {
  constexpr int32_t monotonic = 1;
  int64_t nanoseconds = 0;
  wasi_clock(monotonic, 1, &nanoseconds);
  return nanoseconds;
}
#else
[[noreturn]] void stop(int64_t status) {
  for (;;)
    callSystem(callExit, status, 0, 0);
}

int64_t readSome(void *to, uint64_t bytes) { return callSystem(callRead, 0, reinterpret_cast<int64_t>(to), int64_t(bytes)); }
int64_t writeSome(const void *from, uint64_t bytes) { return callSystem(callWrite, 1, reinterpret_cast<int64_t>(from), int64_t(bytes)); }

char *mapMemory(uint64_t bytes) {
  constexpr int64_t readAndWrite = 3, privateAndAnonymous = 0x22;
  const int64_t at = callSystem(callMap, 0, int64_t(bytes), readAndWrite, privateAndAnonymous, -1, 0);
  if (at < 0 && at > -4096)
    stop(3);
  return reinterpret_cast<char *>(at);
}

int64_t readClock() {
  int64_t time[2] = {0, 0};
  constexpr int64_t monotonic = 1;
  callSystem(callClock, monotonic, reinterpret_cast<int64_t>(time), 0);
  return time[0] * 1000000000 + time[1];
}

//===- What the C library would have -----------------------------------------===//

const uint64_t *startStack;

uint64_t findAuxiliary(uint64_t type) {
  const uint64_t *at = startStack + 1 + *startStack + 1; // behind the arguments
  while (*at)
    ++at;
  for (++at; at[0]; at += 2)
    if (at[0] == type)
      return at[1];
  return 0;
}

char *findVariable(const char *name) {
  for (char *const *at = reinterpret_cast<char *const *>(startStack + 1 + *startStack + 1); *at; ++at) {
    char *text = *at;
    const char *rest = name;
    while (*rest && *text == *rest)
      ++text, ++rest;
    if (!*rest && *text == '=')
      return text + 1;
  }
  return nullptr;
}
#endif

//===- Input, output and memory -----------------------------------------------===//

constexpr uint64_t guardBytes = 64;
constexpr unsigned char guard = 0xa5;

void readBytes(void *to, uint64_t bytes) {
  for (char *at = static_cast<char *>(to); bytes;) {
    const int64_t done = readSome(at, bytes);
    if (done <= 0)
      stop(2);
    at += done;
    bytes -= uint64_t(done);
  }
}

void writeBytes(const void *from, uint64_t bytes) {
  for (const char *at = static_cast<const char *>(from); bytes;) {
    const int64_t done = writeSome(at, bytes);
    if (done <= 0)
      stop(2);
    at += done;
    bytes -= uint64_t(done);
  }
}

// Zeros, with a guard behind them.
char *allocate(uint64_t bytes) {
  char *memory = mapMemory(bytes + guardBytes);
  for (uint64_t i = 0; i < guardBytes; ++i)
    memory[bytes + i] = char(guard);
  return memory;
}

bool isIntact(const char *memory, uint64_t bytes) {
  for (uint64_t i = 0; i < guardBytes; ++i)
    if (static_cast<unsigned char>(memory[bytes + i]) != guard)
      return false;
  return true;
}

uint64_t takeNumber() {
  uint64_t number;
  readBytes(&number, sizeof(number));
  return number;
}

void give(int64_t number) { writeBytes(&number, sizeof(number)); }

void giveText(const char *text) {
  int64_t length = 0;
  while (text && text[length])
    ++length;
  give(text ? length : -1);
  writeBytes(text, uint64_t(length));
}

//===- The table of the model -------------------------------------------------===//

void giveTensors(const kiln_tensor_info *tensors, int32_t count) {
  for (int32_t i = 0; i < count; ++i) {
    const kiln_tensor_info &tensor = tensors[i];
    giveText(tensor.name);
    giveText(tensor.field);
    give(tensor.byte_size);
    give(tensor.element_type);
    give(tensor.rank);
    give(tensor.dim_texts != nullptr);
    for (int32_t axis = 0; axis < tensor.rank; ++axis) {
      give(tensor.dims[axis]);
      if (tensor.dim_texts) {
        giveText(tensor.dim_texts[axis]);
        give(tensor.dim_symbols[axis]);
      }
    }
  }
}

void giveTexts(const char *const *texts, int32_t count) {
  give(texts != nullptr);
  for (int32_t i = 0; texts && i < count; ++i)
    giveText(texts[i]);
}

void giveQuantization(const kiln_quantization_info *rows, int32_t count) {
  give(rows != nullptr);
  for (int32_t i = 0; rows && i < count; ++i) {
    give(rows[i].count);
    give(rows[i].axis);
    writeBytes(rows[i].scales, uint64_t(rows[i].count) * sizeof(float));
    writeBytes(rows[i].zero_points, uint64_t(rows[i].count) * sizeof(int32_t));
  }
}

void describe() {
  const kiln_model_info &info = model_info;
  give(info.abi_version);
  give(info.num_inputs);
  give(info.num_outputs);
  give(info.num_symbols);
  give(info.num_computed);
  give(info.num_sequences);
  give(info.num_kernels);
  give(info.workspace_size);
  give(info.weights_size);
  give(int64_t(info.weights_checksum));
  giveText(info.name);
  giveText(info.target);
  giveText(model_target());
  giveText(info.weights_file);
  giveTensors(info.inputs, info.num_inputs);
  giveTensors(info.outputs, info.num_outputs);
  for (int32_t i = 0; i < info.num_symbols; ++i) {
    giveText(info.symbols[i].name);
    give(info.symbols[i].min);
    give(info.symbols[i].max);
  }
  giveTexts(info.output_bounds, info.num_outputs);
  giveTexts(info.symbol_bounds, info.num_computed);
  for (int32_t i = 0; i < info.num_sequences; ++i) {
    const kiln_sequence_info &list = info.sequences[i];
    giveText(list.name);
    give(list.first);
    give(list.count);
    give(list.is_output | list.is_sequence << 1 | list.is_optional << 2 | list.is_bytes << 3);
  }
  giveQuantization(info.input_quantization, info.num_inputs);
  giveQuantization(info.output_quantization, info.num_outputs);
}

//===- A run ------------------------------------------------------------------===//

using P = const void *;

uint64_t findWorkspaceSize([[maybe_unused]] const int64_t *dims) { return model_workspace_size(KILN_DIMS_ONLY(dims)); }

int64_t *takeDims() {
  const uint64_t bytes = uint64_t(model_info.num_symbols) * sizeof(int64_t);
  char *dims = allocate(bytes);
  readBytes(dims, bytes);
  return reinterpret_cast<int64_t *>(dims);
}

// A tensor of strings is their number and, for each, its length and bytes; any other is its bytes.
char *takeTensor(const kiln_tensor_info &tensor) {
  const uint64_t size = takeNumber();
  if (tensor.element_type != KILN_ELEMENT_STRING) {
    char *bytes = allocate(size);
    readBytes(bytes, size);
    return bytes;
  }
  kiln_string *strings = reinterpret_cast<kiln_string *>(allocate(size * sizeof(kiln_string)));
  for (uint64_t i = 0; i < size; ++i) {
    const uint64_t length = takeNumber();
    char *text = allocate(length);
    readBytes(text, length);
    strings[i] = {text, int64_t(length)};
  }
  return reinterpret_cast<char *>(strings);
}

void giveTensor(const kiln_tensor_info &tensor, const char *data, uint64_t size) {
  if (tensor.element_type != KILN_ELEMENT_STRING)
    return writeBytes(data, size);
  for (uint64_t i = 0; i < size / sizeof(kiln_string); ++i) {
    const kiln_string &string = reinterpret_cast<const kiln_string *>(data)[i];
    give(string.size);
    writeBytes(string.data, uint64_t(string.size));
  }
}

struct Launch {
  kiln_kernel_info kernel;
  int64_t calls, nanoseconds, start;
};

void onKernel(void *user, const kiln_kernel_info *kernel, kiln_kernel_phase phase) {
  Launch &launch = static_cast<Launch *>(user)[kernel->index];
  if (phase == KILN_KERNEL_BEGIN) {
    launch.start = readClock();
    return;
  }
  launch.nanoseconds += readClock() - launch.start;
  const int64_t flops = launch.kernel.flops, bytes = launch.kernel.bytes;
  launch.kernel = *kernel;
  launch.kernel.flops += flops;
  launch.kernel.bytes += bytes;
  ++launch.calls;
}

void giveLaunches(const Launch *launches) {
  give(model_info.num_kernels);
  for (int32_t i = 0; i < model_info.num_kernels; ++i) {
    const Launch &launch = launches[i];
    giveText(launch.kernel.name);
    giveText(launch.kernel.nodes);
    giveText(launch.kernel.algorithm);
    give(launch.calls);
    give(launch.nanoseconds);
    give(launch.kernel.flops);
    give(launch.kernel.bytes);
  }
}

#if defined(__wasm__)
// Engines replace the code that they make first when a function is called again, not while it runs: so that of a long kernel is used for a part of it only.
void runInPieces(void *, int64_t tasks, kiln_task task, void *argument) {
  const int64_t pieces = tasks < 16 ? tasks : 16;
  for (int64_t i = 0; i < pieces; ++i)
    task(argument, tasks * i / pieces, tasks * (i + 1) / pieces);
}
#endif

void run() {
  const uint64_t runs = takeNumber(), profiledRuns = takeNumber(), weightBytes = takeNumber();
  int64_t *dims = takeDims();
  char *weights = allocate(weightBytes);
  readBytes(weights, weightBytes);
  const int32_t outputs = model_info.num_outputs;
  P *in = reinterpret_cast<P *>(allocate(uint64_t(model_info.num_inputs + 1) * sizeof(P)));
  char **out = reinterpret_cast<char **>(allocate(uint64_t(outputs + 1) * sizeof(P)));
  uint64_t *sizes = reinterpret_cast<uint64_t *>(allocate(uint64_t(outputs) * sizeof(uint64_t)));
  for (int32_t i = 0; i < model_info.num_inputs; ++i)
    in[i] = takeTensor(model_info.inputs[i]);
  for (int32_t i = 0; i < outputs; ++i)
    out[i] = allocate(sizes[i] = takeNumber());
  const uint64_t workspaceBytes = findWorkspaceSize(dims);
  char *workspace = allocate(workspaceBytes);
  kiln_context context = KILN_CONTEXT_INIT;
#if defined(__wasm__)
  context.parallel_for = runInPieces;
#endif
  auto callRun = [&] { return model_run(KILN_WITH_DIMS(dims) in, out, KILN_WITH_WEIGHTS(weights) workspace, &context); };

  int64_t *times = reinterpret_cast<int64_t *>(allocate(runs * sizeof(int64_t)));
  kiln_status status = KILN_STATUS_OK;
  for (uint64_t i = 0; i < runs && status == KILN_STATUS_OK; ++i) {
    const int64_t start = readClock();
    status = callRun();
    times[i] = readClock() - start;
    context.parallel_for = nullptr;
  }
  Launch *launches = reinterpret_cast<Launch *>(allocate(uint64_t(model_info.num_kernels) * sizeof(Launch)));
  context.on_kernel = onKernel;
  context.on_kernel_user = launches;
  for (uint64_t i = 0; i < profiledRuns && status == KILN_STATUS_OK; ++i)
    status = callRun();

  bool intact = isIntact(workspace, workspaceBytes), intactOutputs = true;
  for (int32_t i = 0; i < outputs; ++i)
    intactOutputs &= isIntact(out[i], sizes[i]);
  give(status);
  give(intact | intactOutputs << 1);
  if (status != KILN_STATUS_OK)
    return;
  writeBytes(dims, uint64_t(model_info.num_symbols) * sizeof(int64_t));
  for (int32_t i = 0; i < outputs; ++i)
    giveTensor(model_info.outputs[i], out[i], sizes[i]);
  writeBytes(times, runs * sizeof(int64_t));
  if (profiledRuns)
    giveLaunches(launches);
}

} // namespace

// Kernels may call these, and so may the compiler.
extern "C" {
__attribute__((no_builtin)) void *memcpy(void *to, const void *from, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    static_cast<char *>(to)[i] = static_cast<const char *>(from)[i];
  return to;
}
__attribute__((no_builtin)) void *memmove(void *to, const void *from, size_t bytes) {
  char *target = static_cast<char *>(to);
  const char *source = static_cast<const char *>(from);
  if (target < source)
    return memcpy(to, from, bytes);
  while (bytes--)
    target[bytes] = source[bytes];
  return to;
}
__attribute__((no_builtin)) void *memset(void *to, int value, size_t bytes) {
  for (size_t i = 0; i < bytes; ++i)
    static_cast<char *>(to)[i] = char(value);
  return to;
}
__attribute__((no_builtin)) int memcmp(const void *a, const void *b, size_t bytes) {
  const unsigned char *x = static_cast<const unsigned char *>(a), *y = static_cast<const unsigned char *>(b);
  for (size_t i = 0; i < bytes; ++i)
    if (x[i] != y[i])
      return x[i] < y[i] ? -1 : 1;
  return 0;
}
__attribute__((no_builtin)) size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length])
    ++length;
  return length;
}

#if defined(__wasm__)
[[noreturn]] void _start(void) {
#else
char *getenv(const char *name) { return findVariable(name); }
unsigned long getauxval(unsigned long type) { return findAuxiliary(type); }

[[noreturn]] void kiln_answer(const uint64_t *stack) {
  startStack = stack;
#endif
  enum : uint64_t { requestDescription, requestWorkspaceSize, requestRun };
  const uint64_t request = takeNumber();
  if (request == requestDescription)
    describe();
  else if (request == requestWorkspaceSize)
    give(int64_t(findWorkspaceSize(takeDims())));
  else if (request == requestRun && model_target())
    run();
  else
    stop(2);
  stop(0);
}
}
