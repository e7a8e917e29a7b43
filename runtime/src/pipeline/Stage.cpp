#include "Stage.h"

#include "../System.h"
#include "DimText.h"

#include <stdlib.h>
#include <string.h>

// Functions of libraries are called by pointers alone, whatever structs their parameters point to.
#if defined(__clang__)
#define KILN_CALLS_ANY_FUNCTION __attribute__((no_sanitize("function")))
#else
#define KILN_CALLS_ANY_FUNCTION
#endif

using namespace kiln;

namespace {

// The value of the metadata key that is made of the two parts; null if there is none.
const char *findText(const kiln_model_info &info, const char *prefix, const char *name) {
  size_t length = strlen(prefix);
  for (int64_t i = 0; i < info.num_metadata; ++i)
    if (strncmp(info.metadata[i].key, prefix, length) == 0 && strcmp(info.metadata[i].key + length, name) == 0)
      return info.metadata[i].value;
  return nullptr;
}

bool takeWord(const char **text, const char *word) {
  size_t length = strlen(word);
  if (strncmp(*text, word, length) != 0)
    return false;
  *text += length;
  return true;
}

bool findNumber(const kiln_model_info &info, const char *key, int32_t *number) {
  const char *text = findText(info, key, "");
  return text && takeNumber(&text, number) && !*text;
}

template <typename T> T *allocateArray(int32_t count) { return static_cast<T *>(calloc(size_t(count) + 1, sizeof(T))); }

size_t roundUp(int64_t bytes) { return (size_t(bytes) + KILN_ALIGNMENT - 1) / KILN_ALIGNMENT * KILN_ALIGNMENT; }

// For elements that are there in any case, so that a border without any has an address.
char *allocateBytes(size_t bytes) { return static_cast<char *>(allocateAligned(bytes ? bytes : 1, KILN_ALIGNMENT)); }

} // namespace

bool kiln::takeNumber(const char **list, int32_t *number) {
  const char *text = *list;
  while (*text == ' ')
    ++text;
  if (*text < '0' || *text > '9')
    return false;
  int64_t value = 0;
  for (; *text >= '0' && *text <= '9'; ++text)
    if ((value = 10 * value + (*text - '0')) > (1 << 20))
      return false;
  *list = text;
  *number = int32_t(value);
  return true;
}

// "result 2", "to 1 3" or both. The readers are later stages.
bool Stage::readOutput(const char *text, StageOutput *output) const {
  if (takeWord(&text, "result") && !takeNumber(&text, &output->result))
    return false;
  while (*text == ' ')
    ++text;
  if (takeWord(&text, "to"))
    output->readers = text;
  for (int32_t to; *output->readers && takeNumber(&text, &to);)
    if (to <= number || to >= count)
      return false;
  return !*text;
}

kiln_status Stage::read() {
  const kiln_model_info &info = *library.info;
  if (info.abi_version != KILN_ABI_VERSION || !KILN_HAS_FIELD(kiln_model_info, &info, num_metadata))
    return KILN_STATUS_ABI_MISMATCH;
  if (!findNumber(info, "kiln.stage", &number) || !findNumber(info, "kiln.stages", &count) || number >= count)
    return KILN_STATUS_INVALID_ARGUMENT;
  if ((info.num_symbols && !dims) || (takesWeights() && info.weights_size > 0 && !library.weights))
    return KILN_STATUS_NULL_POINTER;
  inputs = allocateArray<StageInput>(info.num_inputs);
  outputs = allocateArray<StageOutput>(info.num_outputs);
  inputPointers = allocateArray<const void *>(info.num_inputs);
  outputPointers = allocateArray<void *>(info.num_outputs);
  if (!inputs || !outputs || !inputPointers || !outputPointers)
    return KILN_STATUS_OUT_OF_MEMORY;
  for (int32_t i = 0; i < info.num_inputs; ++i) {
    StageInput &input = inputs[i];
    input = {info.inputs[i].name, -1, -1, nullptr, countBytes(info, info.inputs[i], dims), nullptr};
    const char *text = findText(info, "kiln.input.", input.name);
    bool isGiven = text && takeWord(&text, "given");
    if (!text || (!isGiven && !takeWord(&text, "from")) || !takeNumber(&text, isGiven ? &input.given : &input.from) || *text || input.from >= number)
      return KILN_STATUS_INVALID_ARGUMENT;
    if (!isGiven && input.bytes < 0)
      return KILN_STATUS_SIZE_OVERFLOW;
  }
  for (int32_t i = 0; i < info.num_outputs; ++i) {
    StageOutput &output = outputs[i];
    output = {info.outputs[i].name, -1, "", countBytes(info, info.outputs[i], dims), 0, nullptr};
    const char *text = findText(info, "kiln.output.", output.name);
    if (!text || !readOutput(text, &output))
      return KILN_STATUS_INVALID_ARGUMENT;
    if (output.result < 0 && output.bytes < 0)
      return KILN_STATUS_SIZE_OVERFLOW;
  }
  return KILN_STATUS_OK;
}

KILN_CALLS_ANY_FUNCTION kiln_status Stage::allocate(int64_t depth) {
  const kiln_model_info &info = *library.info;
  int64_t bytes = info.workspace_size;
  if (bytes < 0 && info.num_symbols)
    workspaceBytes = reinterpret_cast<size_t (*)(const int64_t *)>(library.workspace_size)(dims);
  else
    workspaceBytes = bytes < 0 ? reinterpret_cast<size_t (*)()>(library.workspace_size)() : size_t(bytes);
  if (workspaceBytes == SIZE_MAX)
    return KILN_STATUS_SIZE_OVERFLOW;
  if (kiln_status status = kiln_workspace_create(workspaceBytes, &workspace))
    return status;
  for (int32_t i = 0; i < info.num_inputs; ++i)
    if (inputs[i].given < 0 && !inputs[i].source && !(inputs[i].buffer = allocateBytes(size_t(inputs[i].bytes))))
      return KILN_STATUS_OUT_OF_MEMORY;
  for (int32_t i = 0; i < info.num_outputs; ++i) {
    StageOutput &output = outputs[i];
    if (output.result >= 0)
      continue;
    output.stride = roundUp(output.bytes);
    size_t all;
    if (__builtin_mul_overflow(output.stride, size_t(depth), &all) || !(output.buffer = allocateBytes(all)))
      return KILN_STATUS_OUT_OF_MEMORY;
  }
  return KILN_STATUS_OK;
}

void Stage::free() {
  for (int32_t i = 0; inputs && i < library.info->num_inputs; ++i)
    if (inputs[i].buffer)
      freeAligned(inputs[i].buffer);
  for (int32_t i = 0; outputs && i < library.info->num_outputs; ++i)
    if (outputs[i].buffer)
      freeAligned(outputs[i].buffer);
  ::free(inputs);
  ::free(outputs);
  ::free(inputPointers);
  ::free(outputPointers);
  kiln_workspace_destroy(workspace, workspaceBytes);
}

KILN_CALLS_ANY_FUNCTION kiln_status Stage::run(const kiln_micro_batch *batches, int64_t batch, int64_t depth) {
  const kiln_model_info &info = *library.info;
  int64_t slot = batch % depth;
  for (int32_t i = 0; i < info.num_inputs; ++i) {
    const StageInput &input = inputs[i];
    inputPointers[i] = input.given >= 0 ? batches[batch].inputs[input.given] : input.source ? place(*input.source, batches[batch], slot) : input.buffer;
  }
  for (int32_t i = 0; i < info.num_outputs; ++i)
    outputPointers[i] = place(outputs[i], batches[batch], slot);
  // NAME_run takes dims when the model has any, inputs, outputs, weights when they are a file, workspace, context.
  using P = const void *;
  P in = inputPointers, out = outputPointers;
  if (info.num_symbols && takesWeights())
    return reinterpret_cast<kiln_status (*)(P, P, P, P, P, P)>(library.run)(dims, in, out, library.weights, workspace, context);
  if (info.num_symbols)
    return reinterpret_cast<kiln_status (*)(P, P, P, P, P)>(library.run)(dims, in, out, workspace, context);
  if (takesWeights())
    return reinterpret_cast<kiln_status (*)(P, P, P, P, P)>(library.run)(in, out, library.weights, workspace, context);
  return reinterpret_cast<kiln_status (*)(P, P, P, P)>(library.run)(in, out, workspace, context);
}
