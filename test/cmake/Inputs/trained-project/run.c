/* Runs a model on the bytes of a file and writes its output to another. */
#include HEADER

#include <stdint.h>
#include <stdio.h>

#define JOIN(name, suffix) name##suffix
#define JOIN_VALUES(name, suffix) JOIN(name, suffix)
#define OF_MODEL(suffix) JOIN_VALUES(MODEL, suffix)

static _Alignas(KILN_ALIGNMENT) unsigned char workspace[WORKSPACE_SIZE + 1];
static _Alignas(KILN_ALIGNMENT) float in[1 << 20], out[1 << 20];

static size_t count_elements(const kiln_tensor_info *tensor) {
  size_t elements = 1;
  for (int32_t i = 0; i < tensor->rank; ++i)
    elements *= (size_t)tensor->dims[i];
  return elements;
}

int main(int count, char **arguments) {
  const kiln_model_info *model = &OF_MODEL(_info);
  const size_t given = count_elements(&model->inputs[0]), computed = count_elements(&model->outputs[0]);
  OF_MODEL(_inputs) inputs = {in};
  OF_MODEL(_outputs) outputs = {out};
  FILE *from = count == 3 ? fopen(arguments[1], "rb") : NULL, *to = count == 3 ? fopen(arguments[2], "wb") : NULL;
  if (!from || !to || model->num_inputs != 1 || model->num_outputs != 1 || fread(in, sizeof(float), given, from) != given)
    return 1;
  if (OF_MODEL(_run)(&inputs, &outputs, workspace, NULL) != KILN_STATUS_OK)
    return 2;
  printf("%s for %s\n", model->name, OF_MODEL(_target)());
  return fwrite(out, sizeof(float), computed, to) == computed && fclose(to) == 0 ? 0 : 3;
}
