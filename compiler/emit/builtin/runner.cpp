// The program around a model for machines other than the one that compiles: it reads one request from the standard input and writes the answer to the standard
// output. It needs no C library, so any linker makes it. compiler/run/Program.h describes requests and answers. It is the same for all models of a target, and
// calls one by the functions of runner/model.h.
#include <runner/model.h>

#if defined(_WIN32)
#include <runner/windows.h>
#elif defined(__linux__) || defined(__riscv)
#include <runner/linux.h>
#elif defined(__arm__)
#include <runner/semihosting.h>
#elif defined(__wasm__)
#include <runner/wasi.h>
#else
#error "no system is known for this machine"
#endif
#include <runner/functions.h>

namespace {

//===- Input, output and memory -----------------------------------------------===//

constexpr uint64_t guardBytes = 64;
constexpr unsigned char guard = 0xa5;

void readBytes(void *to, uint64_t bytes) {
  for (char *at = static_cast<char *>(to); bytes;) {
    const intptr_t done = readSome(at, uintptr_t(bytes));
    if (done <= 0)
      stop(2);
    at += done;
    bytes -= uint64_t(done);
  }
}

void writeBytes(const void *from, uint64_t bytes) {
  for (const char *at = static_cast<const char *>(from); bytes;) {
    const intptr_t done = writeSome(at, uintptr_t(bytes));
    if (done <= 0)
      stop(2);
    at += done;
    bytes -= uint64_t(done);
  }
}

// Zeros, with a guard behind them.
char *allocate(uint64_t bytes) {
  const uint64_t wanted = bytes + guardBytes;
  char *memory = wanted == uintptr_t(wanted) ? map(uintptr_t(wanted)) : nullptr;
  if (!memory)
    stop(3);
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
  const kiln_model_info &info = *model_info();
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
  giveTexts(info.input_layouts, info.num_inputs);
  giveTexts(info.output_layouts, info.num_outputs);
  give(info.num_demands);
  for (int64_t i = 0; i < info.num_demands; ++i) {
    const kiln_demand_info &demand = info.demands[i];
    giveText(demand.number);
    giveText(demand.words);
    give(demand.status);
    give(demand.is_least);
    give(demand.num_symbols);
    for (int32_t j = 0; j < demand.num_symbols; ++j)
      give(demand.symbols[j]);
  }
}

//===- A run ------------------------------------------------------------------===//

using P = const void *;

int64_t *takeDims() {
  const uint64_t bytes = uint64_t(model_info()->num_symbols) * sizeof(int64_t);
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

// What the host has decoded for the model, in the order in which a run asks for it. The answer that asks for the next one begins with a number that is no
// status.
struct Picture {
  int64_t status, height, width, bytes;
  char *pixels;
};
struct Pictures {
  Picture *all;
  uint64_t count, next;
};
constexpr int64_t wantsPicture = -1;

Pictures takePictures() {
  const uint64_t count = takeNumber();
  Pictures pictures = {reinterpret_cast<Picture *>(allocate(count * sizeof(Picture))), count, 0};
  for (uint64_t i = 0; i < count; ++i) {
    Picture &picture = pictures.all[i];
    int64_t *const numbers[] = {&picture.status, &picture.height, &picture.width, &picture.bytes};
    for (int64_t *number : numbers)
      *number = int64_t(takeNumber());
    picture.pixels = allocate(uint64_t(picture.bytes));
    readBytes(picture.pixels, uint64_t(picture.bytes));
  }
  return pictures;
}

// The hook decode_image: the program ends with the file as its answer, and is asked again with the picture.
kiln_status decodeImage(void *user, kiln_image *image) {
  Pictures &pictures = *static_cast<Pictures *>(user);
  if (pictures.next == pictures.count) {
    const int64_t numbers[] = {wantsPicture, image->format, image->channels, image->max_height, image->max_width, image->size};
    for (int64_t number : numbers)
      give(number);
    writeBytes(image->bytes, uint64_t(image->size));
    stop(0);
  }
  const Picture &picture = pictures.all[pictures.next++];
  image->height = picture.height;
  image->width = picture.width;
  copyUp(image->pixels, picture.pixels, size_t(picture.bytes));
  return kiln_status(picture.status);
}

struct Launch {
  kiln_kernel_info kernel;
  int64_t calls, nanoseconds, least, start;
};

void onKernel(void *user, const kiln_kernel_info *kernel, kiln_kernel_phase phase) {
  Launch &launch = static_cast<Launch *>(user)[kernel->index];
  if (phase == KILN_KERNEL_BEGIN) {
    launch.start = readClock();
    return;
  }
  const int64_t time = readClock() - launch.start;
  launch.nanoseconds += time;
  launch.least = !launch.calls || time < launch.least ? time : launch.least;
  const int64_t flops = launch.kernel.flops, bytes = launch.kernel.bytes;
  launch.kernel = *kernel;
  launch.kernel.flops += flops;
  launch.kernel.bytes += bytes;
  ++launch.calls;
}

void giveLaunches(const Launch *launches) {
  give(model_info()->num_kernels);
  for (int32_t i = 0; i < model_info()->num_kernels; ++i) {
    const Launch &launch = launches[i];
    giveText(launch.kernel.name);
    giveText(launch.kernel.nodes);
    giveText(launch.kernel.algorithm);
    give(launch.calls);
    give(launch.nanoseconds);
    give(launch.least);
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
  Pictures pictures = takePictures();
  const int32_t outputs = model_info()->num_outputs;
  P *in = reinterpret_cast<P *>(allocate(uint64_t(model_info()->num_inputs + 1) * sizeof(P)));
  char **out = reinterpret_cast<char **>(allocate(uint64_t(outputs + 1) * sizeof(P)));
  uint64_t *sizes = reinterpret_cast<uint64_t *>(allocate(uint64_t(outputs) * sizeof(uint64_t)));
  for (int32_t i = 0; i < model_info()->num_inputs; ++i)
    in[i] = takeTensor(model_info()->inputs[i]);
  for (int32_t i = 0; i < outputs; ++i)
    out[i] = allocate(sizes[i] = takeNumber());
  const uint64_t workspaceBytes = model_workspace_size(dims);
  char *workspace = allocate(workspaceBytes);
  kiln_context context = KILN_CONTEXT_INIT;
  context.decode_image = decodeImage;
  context.decode_user = &pictures;
#if defined(__wasm__)
  context.parallel_for = runInPieces;
#endif
  auto callRun = [&] {
    pictures.next = 0;
    return model_run(dims, in, out, weights, workspace, &context);
  };

  int64_t *times = reinterpret_cast<int64_t *>(allocate(runs * sizeof(int64_t)));
  kiln_status status = KILN_STATUS_OK;
  for (uint64_t i = 0; i < runs && status == KILN_STATUS_OK; ++i) {
    const int64_t start = readClock();
    status = callRun();
    times[i] = readClock() - start;
    context.parallel_for = nullptr;
  }
  Launch *launches = reinterpret_cast<Launch *>(allocate(uint64_t(model_info()->num_kernels) * sizeof(Launch)));
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
  writeBytes(dims, uint64_t(model_info()->num_symbols) * sizeof(int64_t));
  for (int32_t i = 0; i < outputs; ++i)
    giveTensor(model_info()->outputs[i], out[i], sizes[i]);
  writeBytes(times, runs * sizeof(int64_t));
  if (profiledRuns)
    giveLaunches(launches);
}

} // namespace

extern "C" {
#if defined(__wasm__)
[[noreturn]] void _start(void) {
#else
[[noreturn]] void kiln_answer(const void *stack) {
  startSystem(stack);
#endif
  enum : uint64_t { requestDescription, requestWorkspaceSize, requestRun };
  const uint64_t request = takeNumber();
  if (request == requestDescription)
    describe();
  else if (request == requestWorkspaceSize)
    give(int64_t(model_workspace_size(takeDims())));
  else if (request == requestRun && model_target())
    run();
  else
    stop(2);
  stop(0);
}
}
