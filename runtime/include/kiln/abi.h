/* The C ABI between generated models, the programs that call them and the Kiln runtime.
 *
 * Every generated header contains this text, so that a model needs no other file. The include guard allows any number of copies in one unit. C11 and C++17.
 *
 * Versioning: structs that a caller fills begin with abi_version and struct_size. Fields are only ever appended; a callee reads a field only when struct_size
 * covers it (KILN_HAS_FIELD). KILN_ABI_VERSION changes when a field changes its meaning, and a callee refuses any other version. */
#ifndef KILN_ABI_H
#define KILN_ABI_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#define KILN_STATIC_ASSERT(condition, text) static_assert(condition, text)
#else
#define KILN_STATIC_ASSERT(condition, text) _Static_assert(condition, text)
#endif

/* A last enumerator, which is never used, where the compiler would give an enum fewer than 32 bits. */
#if defined(__ARM_SIZEOF_MINIMAL_ENUM) && __ARM_SIZEOF_MINIMAL_ENUM < 4
#define KILN_WIDEST(name) , name = 0x7fffffff
#else
#define KILN_WIDEST(name)
#endif

/* The version of the structs below; what a caller writes to their abi_version. */
#define KILN_ABI_VERSION 1

/* The alignment of the workspace and of mapped weights. All other buffers may have any alignment that their element type allows. */
#define KILN_ALIGNMENT 64

/* The result of a call. Zero is success. The numbers never change. kiln_status_string() returns a text for each. */
typedef enum kiln_status {
  KILN_STATUS_OK = 0,
  KILN_STATUS_INVALID_ARGUMENT = 1,        /* a value that this function never allows */
  KILN_STATUS_NULL_POINTER = 2,            /* a required pointer is NULL */
  KILN_STATUS_DIMENSION_OUT_OF_BOUNDS = 3, /* a dynamic dimension outside the bounds it was compiled for */
  KILN_STATUS_DIMENSION_MISMATCH = 4,      /* dynamic dimensions that do not fit each other */
  KILN_STATUS_INDEX_OUT_OF_BOUNDS = 5,     /* an index in the input data points outside its tensor */
  KILN_STATUS_UNALIGNED_WORKSPACE = 6,     /* the workspace is not aligned to KILN_ALIGNMENT */
  KILN_STATUS_WORKSPACE_TOO_SMALL = 7,     /* fewer bytes than NAME_workspace_size() */
  KILN_STATUS_OUT_OF_MEMORY = 8,           /* malloc or the allocate hook returned NULL */
  KILN_STATUS_UNSUPPORTED_CPU = 9,         /* the CPU lacks an instruction that the model was built for, or the system refuses tiles */
  KILN_STATUS_WEIGHTS_MISMATCH = 10,       /* a weights file of another model, version or length */
  KILN_STATUS_WEIGHTS_UNREADABLE = 11,     /* a weights file that cannot be opened or mapped */
  KILN_STATUS_ABI_MISMATCH = 12,           /* abi_version or struct_size of an argument is not known */
  KILN_STATUS_THREAD_FAILURE = 13,         /* the system refused to start a thread */
  KILN_STATUS_MISSING_ALLOCATOR = 14,      /* an output's size has no bound and there is no allocate hook; reserved */
  KILN_STATUS_LIBRARY_FAILURE = 15,        /* a library function to which the target maps an operation has failed */
  KILN_STATUS_STRING_ROOM_TOO_SMALL = 16,  /* strings have more bytes or parts than the model was compiled for */
  KILN_STATUS_STRING_IS_NO_NUMBER = 17,    /* a string that is cast to a number does not contain one */
  KILN_STATUS_MISSING_IMAGE_DECODER = 18,  /* the model decodes pictures, and the context has no decode_image hook */
  KILN_STATUS_IMAGE_UNREADABLE = 19,       /* a picture is broken, or of a format that the decode_image hook does not know */
  KILN_STATUS_IMAGE_TOO_LARGE = 20,        /* a picture is higher or wider than the model was compiled for, or beyond the hook's limits */
  KILN_STATUS_SIZE_OVERFLOW = 21,          /* dynamic dimensions that would make a tensor or the workspace larger than 2^62 bytes */
  KILN_STATUS_MISSING_FUNCTION = 22,       /* the program has no function for an operator that it was to provide */
  KILN_STATUS_SOUND_UNREADABLE = 23,       /* a file of sound is broken, or of a kind that kiln_wav_read() does not know */
  KILN_STATUS_MISSING_COMMUNICATOR = 24,   /* the model is sharded, and the context has no communicator, or one of another size or rank */
  KILN_STATUS_RANKS_MISMATCH = 25,         /* ranks with different libraries or dimensions, or that do not make the same calls */
  KILN_STATUS_PEER_LATE = 26,              /* the communicator's deadline passed before every rank had come */
  KILN_STATUS_PEER_FAILED = 27             /* another rank ended with an error, or cannot be reached */
  KILN_WIDEST(KILN_STATUS_WIDEST)
} kiln_status;

/* Element types, numbered as in ONNX TensorProto.DataType. */
typedef enum kiln_element_type {
  KILN_ELEMENT_UNDEFINED = 0,
  KILN_ELEMENT_F32 = 1,
  KILN_ELEMENT_U8 = 2,
  KILN_ELEMENT_I8 = 3,
  KILN_ELEMENT_U16 = 4,
  KILN_ELEMENT_I16 = 5,
  KILN_ELEMENT_I32 = 6,
  KILN_ELEMENT_I64 = 7,
  KILN_ELEMENT_STRING = 8,
  KILN_ELEMENT_BOOL = 9, /* one byte, 0 or 1 */
  KILN_ELEMENT_F16 = 10,
  KILN_ELEMENT_F64 = 11,
  KILN_ELEMENT_U32 = 12,
  KILN_ELEMENT_U64 = 13,
  KILN_ELEMENT_COMPLEX64 = 14,
  KILN_ELEMENT_COMPLEX128 = 15,
  KILN_ELEMENT_BF16 = 16,
  KILN_ELEMENT_F8E4M3FN = 17,
  KILN_ELEMENT_F8E4M3FNUZ = 18,
  KILN_ELEMENT_F8E5M2 = 19,
  KILN_ELEMENT_F8E5M2FNUZ = 20,
  KILN_ELEMENT_U4 = 21,
  KILN_ELEMENT_I4 = 22,
  KILN_ELEMENT_F4E2M1 = 23,
  KILN_ELEMENT_F8E8M0 = 24
  KILN_WIDEST(KILN_ELEMENT_WIDEST)
} kiln_element_type;

/* A string: UTF-8 without a terminator. Strings of outputs point into the strings of inputs, into constants of the model, or into an output of
 * bytes. The caller owns all of these but the constants, and must keep them as long as it uses the outputs. */
typedef struct kiln_string {
  const char *data;
  int64_t size; /* bytes */
} kiln_string;

/* A part of a kernel: runs the tasks [begin, end) of the work behind `arg`. The tasks of a launch are
 * independent. A task function may be called from any thread and calls no hook. */
typedef void (*kiln_task)(void *arg, int64_t begin, int64_t end);

/* Runs `task` over [0, tasks), each number exactly once, in ranges of any length on any threads, and returns
 * when all are done. It must allow calls from several threads at once, and cannot fail. */
typedef void (*kiln_parallel_for)(void *user, int64_t tasks, kiln_task task, void *arg);

/* A kernel launch, as passed to the profiler hook. The struct lives for the duration of the hook call. Its
 * strings are constants of the model. flops and bytes count this launch, with its actual dimensions. */
typedef struct kiln_kernel_info {
  const char *model;     /* name of the compiled model */
  const char *name;      /* kernel function; several launches may share it */
  const char *nodes;     /* ONNX nodes that it computes: "conv_0(Conv) relu_1(Relu)" */
  const char *algorithm; /* how, e.g. "gemm_tiled 14x32" */
  int32_t index;         /* launch number within the model, from 0 */
  int32_t count;         /* number of launches in the model */
  int64_t tasks;         /* tasks of this launch */
  int64_t flops;         /* floating-point or integer operations, 0 if unknown */
  int64_t bytes;         /* bytes read and written, each once; 0 if unknown */
} kiln_kernel_info;

/* Whether a launch begins or has ended. */
typedef enum kiln_kernel_phase { KILN_KERNEL_BEGIN = 0, KILN_KERNEL_END = 1 KILN_WIDEST(KILN_KERNEL_WIDEST) } kiln_kernel_phase;

/* Called before and after every launch, on the thread that called NAME_run. The phases of one run strictly
 * alternate. A kernel that is skipped at run time makes no call. The hook must not start a run with the same workspace. */
typedef void (*kiln_on_kernel)(void *user, const kiln_kernel_info *kernel, kiln_kernel_phase phase);

/* Allocates memory for output number `output` if its size has no bound before the run. This version has no such
 * models: where a size depends on the data, the caller's buffer has room for the largest size, and the run writes the
 * actual size to NAME_dims (see the generated header). The hook returns `size` bytes (never 0) aligned to `alignment`,
 * or NULL, which ends the run with KILN_STATUS_OUT_OF_MEMORY. The caller owns the memory from then on, also if the
 * run fails later. */
typedef void *(*kiln_allocate)(void *user, int32_t output, size_t size, size_t alignment);

/* The order of the channels of a pixel, which are adjacent in memory. */
typedef enum kiln_pixel_format { KILN_PIXELS_RGB = 0, KILN_PIXELS_BGR = 1, KILN_PIXELS_GRAYSCALE = 2 } kiln_pixel_format;

/* A picture to decode. The hook sets height and width and writes the pixels. It only reads the other fields. */
typedef struct kiln_image {
  const uint8_t *bytes; /* the file, in any format that the hook supports */
  uint8_t *pixels;      /* u8[height,width,channels], rows from top to bottom without gaps; room for max_height * max_width * channels */
  int64_t size;         /* bytes of the file; 0 is possible */
  int64_t max_height;   /* for a larger picture the hook returns KILN_STATUS_IMAGE_TOO_LARGE */
  int64_t max_width;    /* and must not write any pixels */
  int64_t height;       /* at least 1 */
  int64_t width;
  int32_t format, channels; /* kiln_pixel_format; 3, or 1 for KILN_PIXELS_GRAYSCALE */
} kiln_image;

/* Decodes a picture for ONNX ImageDecoder, on the thread that called NAME_run. The struct and all that it points to are valid only until the
 * hook returns. Any status other than KILN_STATUS_OK ends the run with that status: KILN_STATUS_IMAGE_UNREADABLE, _IMAGE_TOO_LARGE, _OUT_OF_MEMORY. The hook
 * may allocate and lock. Several threads may call it at once if they share a context. kiln_images_decode() of libkiln_images.a is such a hook. */
typedef kiln_status (*kiln_decode_image)(void *user, kiln_image *image);

typedef struct kiln_communicator kiln_communicator; /* what a rank of a sharded model has of the others: kiln/communicator.h */

/* The threads and hooks of a run, which reads it and never keeps it. The caller owns it. NULL: one thread, no hooks. Threads may share it if hooks allow. */
typedef struct kiln_context {
  uint32_t abi_version; /* KILN_ABI_VERSION */
  uint32_t struct_size; /* sizeof(kiln_context) when it was filled in */
  int32_t num_threads;  /* threads of parallel_for; only a hint for splitting work */
  uint32_t reserved;    /* 0 */
  kiln_parallel_for parallel_for; /* NULL: everything runs on the calling thread */
  void *parallel_user;
  kiln_on_kernel on_kernel; /* NULL: no profiling, at no cost */
  void *on_kernel_user;
  kiln_allocate allocate; /* reserved; may be NULL */
  void *allocate_user;
  kiln_decode_image decode_image; /* NULL: models with ImageDecoder end with KILN_STATUS_MISSING_IMAGE_DECODER */
  void *decode_user;
  const kiln_communicator *communicator; /* NULL: sharded models end with KILN_STATUS_MISSING_COMMUNICATOR */
} kiln_context;

/* A context with one thread and no hooks, to start from. */
#define KILN_CONTEXT_INIT {KILN_ABI_VERSION, (uint32_t)sizeof(kiln_context), 1, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL}

/* Whether the struct at `pointer` was filled in by code that knew `field`. */
#define KILN_HAS_FIELD(type, pointer, field) ((size_t)(pointer)->struct_size >= offsetof(type, field) + sizeof((pointer)->field))

/* A named dynamic dimension and the values that it was compiled for (both ends included). */
typedef struct kiln_symbol_info {
  const char *name;
  int64_t min;
  int64_t max;
} kiln_symbol_info;

/* An input or output. Dimension i is dims[i], or -1 if it is dynamic. Then dim_texts[i] is its expression ("batch", "2*sequence+1") and dim_symbols[i] the
 * index of the symbol that it equals, or -1 for other expressions. dim_texts and dim_symbols are NULL for a tensor without dynamic dimensions. */
typedef struct kiln_tensor_info {
  const char *name;  /* as in the ONNX file */
  const char *field; /* as in the generated struct */
  const int64_t *dims;
  const char *const *dim_texts;
  const int32_t *dim_symbols;
  int64_t byte_size; /* -1 when it depends on a dimension */
  int32_t element_type; /* kiln_element_type */
  int32_t rank;
} kiln_tensor_info;

/* An input or output of the ONNX model that is a sequence or an optional. Its elements are consecutive tensors of the signature. */
typedef struct kiln_sequence_info {
  const char *name;  /* as in the ONNX file */
  int32_t first;     /* index of its first tensor among the inputs or outputs; without tensors, of the next tensor */
  int32_t count;     /* number of its tensors; -1: an optional without a value */
  uint8_t is_output; /* 0: first counts inputs */
  uint8_t is_sequence;
  uint8_t is_optional;
  uint8_t is_bytes;    /* not an output of the ONNX model: the bytes that strings of other outputs point into */
  uint8_t reserved[4]; /* 0 */
} kiln_sequence_info;

/* How an input or output of integers is quantised: integer q stands for the number (q - zero_point) * scale. Known where the model only
 * dequantises an input, or quantises an output, with constants. kiln/convert.h of the runtime has functions for the conversion. */
typedef struct kiln_quantization_info {
  const float *scales;
  const int32_t *zero_points; /* as many */
  int32_t count;              /* 0: not quantised, or not known, and the pointers are NULL; 1: one scale for the tensor; else one for each index of `axis` */
  int32_t axis;               /* -1 where there is one scale for the tensor */
} kiln_quantization_info;

/* What the classes of an output are, in their order: the labels of a classifier, or the keys of ZipMap. */
typedef struct kiln_labels_info {
  const int64_t *integers;    /* NULL if the labels are strings */
  const kiln_string *strings; /* NULL if they are integers */
  int32_t count;              /* 0: the output has none */
  int32_t axis;               /* the dimension with an index for each label; -1 where the elements of the output are such labels */
} kiln_labels_info;

/* An entry of the ONNX file's metadata_props. Both texts end in a zero. */
typedef struct kiln_metadata_entry {
  const char *key;
  const char *value;
} kiln_metadata_entry;

/* A demand of a run on the dimensions that the caller gives, or on sizes that data decide, without symbols. `number` is an expression of them, as in dim_texts,
 * whose divisions round down: it must be 0, or with is_least 0 or more. People are told the sizes of `symbols` and the words: "must be even (Add 'p')". */
typedef struct kiln_demand_info {
  const char *number;
  const char *words;
  const int32_t *symbols; /* indices into the symbols of the model */
  int32_t num_symbols;
  int32_t status; /* the kiln_status of a run with other dimensions */
  uint8_t is_least;
  uint8_t reserved[7]; /* 0 */
} kiln_demand_info;

/* The signature of a model: constant data with static lifetime, for use in any thread. */
typedef struct kiln_model_info {
  uint32_t abi_version;
  uint32_t struct_size;
  const char *name;
  const char *target; /* e.g. "x86-64-v3" */
  const kiln_tensor_info *inputs;
  const kiln_tensor_info *outputs;
  const kiln_symbol_info *symbols;
  const char *weights_file; /* file name for kiln_weights_map(), NULL when embedded */
  int32_t num_inputs, num_outputs, num_symbols;
  int32_t num_kernels;    /* launches of a run */
  int64_t workspace_size; /* -1: depends on dimensions, see NAME_workspace_size() */
  int64_t weights_size;   /* bytes */
  uint64_t weights_checksum; /* kiln_checksum() of the weights file, 0 when embedded */
  /* For models whose output sizes depend on the data: */
  const char *const *output_bounds; /* the largest number of elements of each output, as an expression of the caller's dimensions */
  const char *const *symbol_bounds; /* the same for the computed dimensions; both are NULL if there are none */
  int32_t num_computed;             /* the last symbols, which a run writes to NAME_dims */
  int32_t num_sequences;
  const kiln_sequence_info *sequences; /* inputs in their order, then outputs; NULL if there are none */
  /* For models whose inputs or outputs are quantised numbers: */
  const kiln_quantization_info *input_quantization;  /* one for each input; NULL if none is known to be quantised */
  const kiln_quantization_info *output_quantization; /* the same for outputs */
  /* For models whose inputs or outputs have another layout than the ONNX model (--io-layout): */
  const char *const *input_layouts;  /* "nhwc", "nwc" or "ndhwc" for each input, NULL for those as in the model; NULL if all are */
  const char *const *output_layouts; /* the same for outputs */
  const kiln_labels_info *output_labels; /* for classifiers: one for each output; NULL if none has labels */
  const kiln_metadata_entry *metadata;   /* the ONNX file's metadata_props in their order; NULL if there are none */
  int64_t num_metadata;
  const kiln_demand_info *demands; /* what NAME_explain() of the header looks at, in its order; NULL if no dimension is dynamic */
  int64_t num_demands;
  const struct kiln_rank_weights *rank_weights; /* for sharded models, in place of weights_file: that of each rank (kiln/communicator.h); else NULL */
  int64_t num_ranks;                            /* the size of the communicator that a run needs; 0 for other models */
} kiln_model_info;

/* 32- and 64-bit targets differ only in the width of pointers, and in the padding where 64-bit integers are aligned to 8 bytes. */
KILN_STATIC_ASSERT(sizeof(kiln_status) == 4 && sizeof(kiln_element_type) == 4, "enums are 32 bits wide");
KILN_STATIC_ASSERT(sizeof(kiln_kernel_info) == 32 + 4 * sizeof(void *) && sizeof(kiln_image) == 48 + 2 * sizeof(void *), "an argument of a hook changed");
KILN_STATIC_ASSERT(sizeof(kiln_context) == 16 + 9 * sizeof(void *), "kiln_context changed");
KILN_STATIC_ASSERT(sizeof(void *) != 8 || (sizeof(kiln_string) == 16 && sizeof(kiln_symbol_info) == 24), "kiln_string or kiln_symbol_info changed");
KILN_STATIC_ASSERT(sizeof(void *) != 8 || (sizeof(kiln_tensor_info) == 56 && sizeof(kiln_sequence_info) == 24), "a tensor's or sequence's info changed");
KILN_STATIC_ASSERT(sizeof(kiln_quantization_info) == 8 + 2 * sizeof(void *) && sizeof(kiln_labels_info) == 8 + 2 * sizeof(void *), "an output's info changed");
KILN_STATIC_ASSERT(sizeof(void *) != 8 || sizeof(kiln_model_info) == 80 + 17 * sizeof(void *), "kiln_model_info changed");

#ifdef __cplusplus
}
#endif

#endif /* KILN_ABI_H */
