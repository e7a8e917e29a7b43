// The functions of runner/model.h for one model, whose name, and whether its functions take dimensions and weights, stand in front of this text as macros.
#include <runner/model.h>

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
extern const kiln_model_info its_info __asm__(KILN_MODEL "_info");
const char *its_target(void) __asm__(KILN_MODEL "_target");
size_t its_workspace_size(KILN_DIMS_ONLY(const int64_t *)) __asm__(KILN_MODEL "_workspace_size");
kiln_status its_run(KILN_WITH_DIMS(int64_t *) const void *const *, char *const *, KILN_WITH_WEIGHTS(const char *) void *,
                    const kiln_context *) __asm__(KILN_MODEL "_run");

const kiln_model_info *model_info(void) { return &its_info; }

const char *model_target(void) { return its_target(); }

size_t model_workspace_size([[maybe_unused]] const int64_t *dims) { return its_workspace_size(KILN_DIMS_ONLY(dims)); }

kiln_status model_run([[maybe_unused]] int64_t *dims, const void *const *in, char *const *out, [[maybe_unused]] const char *weights, void *workspace,
                      const kiln_context *context) {
  return its_run(KILN_WITH_DIMS(dims) in, out, KILN_WITH_WEIGHTS(weights) workspace, context);
}
}
