/* The C interface of tunec: functions that compile a model for the CPU or a GPU, and that run the
 * model. tunec.hpp is the C++ form of this interface.
 *
 *     tunec_executable *model = NULL;
 *     if (tunec_compile("resnet50.onnx", "{\"threads\": 2}", &model) != TUNEC_OK)
 *       puts(tunec_error_message());
 *     tunec_run(model, inputs, outputs);   // arrays of DLTensor *
 *     tunec_release(model);
 *
 * Thread safety: every function may be called from any thread. One executable may run in several
 * threads at once. A program must not release an executable while another call uses it.
 *
 * Errors: the functions of type int that compile, load, run or wait return a tunec_status, as does
 * tunec_output_shapes. After a failure, tunec_error_message() returns the message for the calling
 * thread.
 *
 * Compatibility: a struct that crosses this interface and may grow begins with its size in bytes.
 * Later versions may add members at the end of such a struct. The program sets the size of the
 * structs that it passes, and the library sets the size of tunec_progress. A member beyond the size
 * counts as zero. So a program and a library that were built with different versions of a struct
 * work together. One case fails with TUNEC_INVALID_ARGUMENT: the program sets a member that the
 * library does not have. */
#ifndef TUNEC_TUNEC_H_
#define TUNEC_TUNEC_H_

#include <stddef.h>
#include <stdint.h>

/* DLPack's tensor. DLPack is an open standard that NumPy, PyTorch and others share. The same layout
 * is declared here unless DLPack's header was included before or <dlpack/dlpack.h> is found. */
#if defined(DLPACK_DLPACK_H_)
#elif defined(__has_include)
#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif
#endif
#ifndef DLPACK_DLPACK_H_
#define DLPACK_DLPACK_H_
#ifdef __cplusplus
typedef enum : int32_t {
#else
typedef enum {
#endif
  kDLCPU = 1,
  kDLCUDA = 2,
  kDLCUDAHost = 3
} DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int32_t device_id;
} DLDevice;
typedef enum { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLBool = 6 } DLDataTypeCode;
typedef struct {
  uint8_t code; /* a DLDataTypeCode */
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides; /* in elements; NULL: dense row-major */
  uint64_t byte_offset;
} DLTensor;
#endif

#if defined(__GNUC__)
#define TUNEC_API __attribute__((visibility("default")))
#else
#define TUNEC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The result of a call. The numbers never change; later versions may add numbers. */
typedef enum tunec_status {
  TUNEC_OK = 0,
  TUNEC_INVALID_ARGUMENT = 1, /* an invalid option, shape or type, or a null pointer */
  TUNEC_PARSE_ERROR = 2,      /* a malformed model or option text */
  TUNEC_UNSUPPORTED = 3,      /* valid, but tunec does not support it */
  TUNEC_NOT_FOUND = 4,        /* a file or a weight does not exist */
  TUNEC_IO_ERROR = 5,         /* reading or writing failed */
  TUNEC_ILLEGAL_SCHEDULE = 6, /* a defect of tunec, like 10 and 11 */
  TUNEC_RESOURCE_LIMIT = 7,   /* not enough memory, or another limit was exceeded */
  TUNEC_DEVICE_ERROR = 8,     /* the processor or the GPU lacks a feature, or the GPU failed */
  TUNEC_CANCELLED = 9,        /* `cancelled` or text_at stopped the call */
  TUNEC_WRONG_RESULT = 10,
  TUNEC_INTERNAL_ERROR = 11
} tunec_status;

/* A compiled or loaded model. The tunec_compile functions and tunec_load create an executable;
 * tunec_release destroys it. */
typedef struct tunec_executable tunec_executable;

/* The progress of tuning all tasks (distinct kernels of the model). The library owns the struct,
 * which is valid only during the callback that receives it. */
typedef struct tunec_progress {
  size_t size;        /* size of this struct in bytes, set by the library */
  size_t tasks;       /* distinct kernels to tune */
  size_t tasks_timed; /* tasks that have at least one correct trial */
  int64_t trials;     /* trials that count towards the budget, including those of earlier runs */
  int64_t budget;     /* limit of `trials`; at least INT_MAX if only the time is limited */
  int64_t measured;   /* trials that this call measured */
  double elapsed_seconds; /* seconds since this call began to tune */
  double model_seconds;   /* sum of the best kernel times; negative while unknown */
} tunec_progress;

/* Functions that the library calls during compilation, in the thread that compiles. Each function
 * may be null. The functions must not call tunec_release and must not leave by longjmp. A program
 * that was built with an older version of this struct, which has fewer functions, still works. A
 * program that was built with a newer version works if the functions that this library does not
 * have are null. Otherwise the call returns TUNEC_INVALID_ARGUMENT, because the library would never
 * call these functions. */
typedef struct tunec_callbacks {
  size_t size; /* set it to sizeof(tunec_callbacks); the library reads all these bytes */
  void* user;  /* the first argument of each function */
  void (*progress)(void* user, const tunec_progress* progress);
  int (*cancelled)(void* user);              /* nonzero: stop; measured trials stay recorded */
  void (*log)(void* user, const char* line); /* a message for users, without a newline */
} tunec_callbacks;

/* Compiles the model in the file `model_path`: .onnx, or .graph with its weights in the
 * .safetensors file of the same name. Measuring candidates runs the program tunec-worker; if this
 * program is needed but not found, the call returns TUNEC_NOT_FOUND with the searched paths in the
 * message. `options_json` is null, "" or a JSON object with any of these keys:
 *
 *   "shapes": {"INPUT": [N, ...], ...}
 *       shapes of inputs that have dynamic dimensions in the model
 *   "dims": {"NAME": N or [N, ...] or "N..M" or "N..M:STEP" or "OTHER NAME", ...}
 *       sizes of dynamic dimensions by name; if several, or a range (16..512), others round up
 *   "layouts": {"INPUT": "LAYOUT", ...}
 *       layouts of inputs and outputs: channels_last, row_major, or axes, outermost first
 *   "constants": {"INPUT": "VALUE", ...}
 *       bind inputs that shapes depend on to numbers, such as 16000, or to .npy files
 *   "random_weights": N
 *       fill the weights of a .graph from this seed
 *   "external_data": "FOLDER"
 *       the folder that holds the external data of an ONNX model (default: the model's folder)
 *   "target": "NAME"
 *       what to compile for (default: cpu)
 *   "arch": "NAME"
 *       with cuda: what GPUs to compile for, sm_80 or later (default: that of the first one here)
 *   "gpu": "NAME"
 *       with arch: the GPU that times are predicted for, such as h200 (default: an assumed one)
 *   "emulate": true
 *       with cuda: run kernels on this machine's processor; trials predict times
 *   "device": "N"
 *       with cuda: the GPU to run on, by its number or its UUID (default: the first that fits)
 *   "hang_after": "TIME"
 *       with cuda: a run that takes longer is a device error (default: 2m)
 *   "trials": N
 *       measured candidates for the whole model, recorded ones counted (default: 0)
 *   "time_limit": "TIME"
 *       ends tuning after this time, such as 30s, 10m or 1h; without trials the only limit
 *   "background": true
 *       tune after the call returns: runs use untuned code until tuning ends
 *   "retune": ["GROUP", ...]
 *       tune these converged groups again with extra trials: a number, a node's name, or all
 *   "tuned_only": true
 *       measure nothing, and fail if a kernel has no tuned schedule
 *   "verbose": true
 *       also print notes on rejected schedules
 *   "db": "FILE" or null
 *       the tuning database (default: tunec/tunec.db in the user's cache folder)
 *   "db_limit": N
 *       MiB of compiled objects in the database; the oldest are removed beyond (default: 1024)
 *   "threads": N
 *       threads of a run (default: 0: one per core)
 *   "share_threads": true
 *       share one thread pool with other models of the process that set this
 *   "accuracy": "CONTRACT"
 *       exact, f32, tf32, bf16, or a bound as a number (default: f32)
 *   "cpu": "NAME"
 *       native or an LLVM processor name, with ,-feature or ,+feature (default: native)
 *   "seed": N
 *       seed of the search (default: 0)
 *   "disable_pass": ["NAME", ...]
 *       graph passes to omit
 *   "rules": ["FILE", ...]
 *       files of graph rewrites, pattern => replacement
 *   "fast_math": true
 *       allow rewrites that change results for NaN, infinities and signed zeros
 *   "naive": true
 *       use only the naive schedules
 *   "failures": "FOLDER"
 *       write each failing candidate to this folder as a case for tunec-worker --repeat
 *   "worker": "FILE"
 *       the program that measures candidates (default: tunec-worker beside the program or library)
 *   "timing_lock": false
 *       time kernels without waiting for other tuners of this user
 *   "perf_map": true
 *       write the names of kernels for the profiler perf
 *
 * Threads: an executable has its own thread pool, but executables with "share_threads" and the same
 * "threads" share one pool. Run such models one after the other: if two runs overlap, one run has
 * the whole pool. The other run has only its caller's thread until the pool is free.
 *
 * Background: with "background" the call compiles code for the schedules in the database and starts
 * a thread that tunes. Runs use this code until the tuned code replaces it. So results may change
 * once, within the limits of "accuracy". While the library measures, its worker uses as many
 * processors as a run, and runs of the program disturb the measured times. `callbacks` are called
 * only during the call. See tunec_wait_tuning. "background" does nothing without "trials" and
 * "time_limit". It is TUNEC_UNSUPPORTED for dynamic shapes.
 *
 * "accuracy" may also be a JSON number. Without "db", results are stored in the user's database; if
 * that file cannot be opened or written, the call continues and stores no results. If "db" is null
 * or "", results are not stored. Inputs bound by "constants" are not inputs of the executable. If
 * this machine lacks a feature of the processor that "cpu" names, runs and trials return
 * TUNEC_DEVICE_ERROR.
 *
 * On success *out is a new executable, which the caller releases by tunec_release. On failure *out
 * is null. */
TUNEC_API int tunec_compile(const char* model_path, const char* options_json,
                            tunec_executable** out);
/* Compiles a model file like tunec_compile, and calls `callbacks` during the call. `callbacks` may
 * be null. The struct is copied. */
TUNEC_API int tunec_compile_with_callbacks(const char* model_path, const char* options_json,
                                           const tunec_callbacks* callbacks,
                                           tunec_executable** out);
/* Compiles a model in memory, with the options and results of tunec_compile. The model is the
 * `num_bytes` bytes at `bytes`, which may be freed after the call. `format` is "onnx" (the protobuf
 * of a ModelProto) or "graph" (the text). If `format` is null or "", the format is detected from
 * the bytes. A model in memory has no folder. So an ONNX model with external data needs the option
 * "external_data", otherwise the call returns TUNEC_UNSUPPORTED. A .graph text with weights needs
 * the option "random_weights". Messages call the model "<memory>". */
TUNEC_API int tunec_compile_bytes(const void* bytes, size_t num_bytes, const char* format,
                                  const char* options_json, const tunec_callbacks* callbacks,
                                  tunec_executable** out);
/* Compiles the .graph text of `num_bytes` bytes at `text`, whose weights are in memory, with the
 * options (without "random_weights") and results of tunec_compile. Weight i has the name names[i]
 * in the text, or the KEY if the text says `from "KEY"` for this weight. Its elements are in
 * tensors[i]: on the CPU, dense row-major, with at most 64 dimensions. The elements of weights that
 * the text does not name are not read. The executable may read weights in place. So the memory of
 * the tensors must stay valid and unchanged until the executable is released. The names and the
 * DLTensor structs may be freed after the call. */
TUNEC_API int tunec_compile_graph(const char* text, size_t num_bytes, size_t num_weights,
                                  const char* const* names, const DLTensor* const* tensors,
                                  const char* options_json, const tunec_callbacks* callbacks,
                                  tunec_executable** out);

/* Dynamic shapes: a dimension of the model for which "dims" gives no size, several sizes or a range
 * is dynamic. One executable then runs on inputs of different sizes.
 *
 * Sizes: if "dims" lists sizes for every dynamic dimension, and no range, the call compiles every
 * combination; too many combinations are TUNEC_RESOURCE_LIMIT. All other sizes may be rounded up;
 * the code for a rounded size is compiled when a call first needs it.
 *
 * Results: a run of a rounded size computes padding positions too. Operators that mix positions
 * (sums, softmax, attention) ignore the padding, so the results are those of the exact size. A run
 * of several independent elements (a batch) may be split into runs of fewer elements. A graph that
 * cannot be padded is compiled for each exact size, and the report states the reason.
 * At most 48 compiled executables are retained (96 on a GPU); they share their weights.
 *
 * A dynamic dimension is -1 in the shapes of inputs and outputs; tunec_output_shapes returns the
 * output shapes of a run. Per-step profiles are not available: tunec_num_steps returns 0 and
 * tunec_profile returns TUNEC_UNSUPPORTED. `callbacks` are called only during the call. */

/* Compiles the model of `of` again for tensors with other layouts. `layouts_json` is an object like
 * the option "layouts" and replaces this option; null means row-major. All other options are those
 * of `of`, but nothing is tuned. `callbacks` may be null.
 *
 * The executables may share weights. The tensors that tunec_compile_graph received must stay valid
 * until both executables are released. The model's files, including the files of its weights,
 * are read again; a changed file is TUNEC_IO_ERROR. The call returns TUNEC_UNSUPPORTED for
 * dynamic-shape models, for bundles, and for a model that was given as bytes whose `format` was not
 * "graph", because such bytes are not retained. */
TUNEC_API int tunec_compile_layouts(const tunec_executable* of, const char* layouts_json,
                                    const tunec_callbacks* callbacks, tunec_executable** out);

/* Options for loading a bundle. All bytes that are not set must be zero. */
typedef struct tunec_load_options {
  size_t size;    /* set it to sizeof(tunec_load_options); the library reads all these bytes */
  size_t threads; /* threads of a run; 0: the number at build time, at most one per core */
  size_t share_threads; /* 1: share one thread pool with other models that set this and run as many
                           threads */
  const char* device;   /* "cpu", or the number or UUID of a GPU; null: the first GPU that runs the
                           bundle, else the CPU */
} tunec_load_options;

/* Loads the bundle at `path`, a file that `tunec build` wrote. Nothing is compiled or linked.
 * Weights are packed now only if the machine that built the bundle could not run the variant's code
 * for the CPU. `options` may be null. On success *out is a new executable; on failure *out is null.
 *
 * A bundle holds variants for several machines. The call takes the first variant that this machine
 * can run and that `options` allow; variants for a GPU come before variants for a processor. If
 * there is no such variant, the call returns TUNEC_DEVICE_ERROR with the reason for each variant.
 * tunec_notes says why variants were skipped. tunec_report_json returns the report of the
 * compilation.
 *
 * The file is mapped; weights and code are used in place. During the life of the executable the
 * file may be replaced (another file renamed over it), but it must not be written or truncated. A
 * run after the file was written or truncated returns TUNEC_IO_ERROR. A damaged file, or a plan
 * that would access memory outside its buffers, is TUNEC_PARSE_ERROR. The machine code of a bundle
 * is not checked: load bundles only from trusted sources.
 *
 * libtunec_runtime.so also exports this function and all functions below. That library has no
 * compiler: a program that compiles nothing can link libtunec_runtime.so instead of libtunec.so. */
TUNEC_API int tunec_load(const char* path, const tunec_load_options* options,
                         tunec_executable** out);

/* Waits until tuning in the background has ended, but not longer than `seconds`. Sets *ended to 1
 * if it has ended or if the executable has no such tuning, otherwise to 0. After the end, the next
 * run uses the tuned code. Returns the error with which tuning failed; the executable is still
 * usable. tunec_report_json has the state of the tuning in "background". */
TUNEC_API int tunec_wait_tuning(const tunec_executable* executable, double seconds, int* ended);
/* Ends tuning in the background early. Returns when its thread has ended, mostly within a second.
 * Measured trials stay recorded; the executable keeps the code that it has. tunec_release and the
 * end of the program do the same. */
TUNEC_API int tunec_stop_tuning(tunec_executable* executable);

/* Ends tuning in the background, waits for queued runs, then destroys the executable. A null
 * pointer is allowed. */
TUNEC_API void tunec_release(tunec_executable* executable);

/* Return the number, names, types, dimensions and shapes of the inputs and outputs. Returned
 * pointers are valid until the executable is released. For a null executable or an index out of
 * range, these functions return a number of 0, null, -1 dimensions, or a type of 0 bits. The shape
 * of a scalar has no elements. A dynamic size is -1. */
TUNEC_API size_t tunec_num_inputs(const tunec_executable* executable);
TUNEC_API size_t tunec_num_outputs(const tunec_executable* executable);
TUNEC_API const char* tunec_input_name(const tunec_executable* executable, size_t index);
TUNEC_API const char* tunec_output_name(const tunec_executable* executable, size_t index);
TUNEC_API DLDataType tunec_input_type(const tunec_executable* executable, size_t index);
TUNEC_API DLDataType tunec_output_type(const tunec_executable* executable, size_t index);
TUNEC_API int tunec_input_ndim(const tunec_executable* executable, size_t index);
TUNEC_API int tunec_output_ndim(const tunec_executable* executable, size_t index);
TUNEC_API const int64_t* tunec_input_shape(const tunec_executable* executable, size_t index);
TUNEC_API const int64_t* tunec_output_shape(const tunec_executable* executable, size_t index);
/* Return the axes in the order of the tensor's memory layout, outermost first. Return null for a
 * row-major tensor, a null executable and an index out of range. */
TUNEC_API const int64_t* tunec_input_order(const tunec_executable* executable, size_t index);
TUNEC_API const int64_t* tunec_output_order(const tunec_executable* executable, size_t index);
/* Return the size of the dense tensor in bytes; 0 for a null executable, an index out of range and
 * a dynamic size. */
TUNEC_API size_t tunec_input_bytes(const tunec_executable* executable, size_t index);
TUNEC_API size_t tunec_output_bytes(const tunec_executable* executable, size_t index);
/* Return the index of the input or output with this name, or -1. */
TUNEC_API int tunec_input_index(const tunec_executable* executable, const char* name);
TUNEC_API int tunec_output_index(const tunec_executable* executable, const char* name);

/* Computes the shapes of the outputs for `inputs`, without a run. Only the shapes of `inputs` are
 * read. The shape of output i is written to shapes[i], an array of tunec_output_ndim elements. */
TUNEC_API int tunec_output_shapes(tunec_executable* executable, const DLTensor* const* inputs,
                                  int64_t* const* shapes);

/* Runs the model once and returns when the run is done. `inputs` and `outputs` hold one tensor per
 * input and per output, in the order of their indices.
 *
 * Requirements: each tensor is on the CPU, or on the model's GPU (see below), and has the type and
 * shape that the functions above return. The tensor is dense in the order of tunec_input_order or
 * tunec_output_order; strides may be null if this order is row-major. The data is aligned to the
 * element size. Booleans are bytes of 0 or 1, of type kDLBool or 8-bit kDLUInt. For target "cpu", a
 * run of a model without dynamic shapes copies no tensor, except for the overlaps below.
 *
 * Overlap: outputs must not overlap each other. An input may overlap an output; such an input is
 * first copied to other memory. On the CPU the copy may be omitted if three conditions hold. Input
 * and output are the same bytes. No kernel reads the input after the first kernel that writes the
 * output. This first kernel can work in place. An example is a cache in which a run changes some
 * rows.
 *
 * Errors: after an error no output was written, with two exceptions. The first is
 * TUNEC_RESOURCE_LIMIT of a dynamic-shape model: if the run was split, the parts before the error
 * may have written their outputs. The second is TUNEC_DEVICE_ERROR of a GPU.
 *
 * GPU (target "cuda"): a tensor on the CPU is copied. A tensor on the model's GPU (kDLCUDA with the
 * GPU's number) is used in place, with three exceptions: an input that overlaps an output, a tensor
 * padded for a dynamic shape, and a tensor not aligned to 16 bytes. These are copied. For a model
 * without dynamic shapes, tunec_notes names misaligned tensors. The contents of tensors must be
 * complete when the call begins, because the call does not wait for other streams. If the message
 * of a TUNEC_DEVICE_ERROR says that the GPU is lost, this process cannot use the GPU again, but
 * another process can. */
TUNEC_API int tunec_run(tunec_executable* executable, DLTensor* const* inputs,
                        DLTensor* const* outputs);

/* Options of a run. All bytes that are not set must be zero.
 *
 * With `queued` = 1 the call returns when the run is in the stream, which must not be null. All
 * tensors must then be on the GPU. Their memory must stay valid until the run is done, and only
 * work in the same stream may change it. The DLTensor structs may be freed after the call. The
 * stream or tunec_wait shows when the run is done. The call returns the errors that are known so
 * far. An error of the run itself is returned by a later call of a run function, which then does
 * not run, or by tunec_wait. Queued runs in one stream use the same memory one after the other.
 * Concurrent runs in several streams have separate memory. tunec_outside_indices does not count
 * indices of queued runs. */
typedef struct tunec_run_options {
  size_t size;   /* set it to sizeof(tunec_run_options); the library reads all these bytes */
  void* stream;  /* a CUstream of the GPU that runs the model; the run follows the work that the
                    stream already has. Null: a stream of the executable. CUDA's default stream is
                    (void*)1, as in DLPack. */
  size_t queued; /* 0: the call waits until the run is done. 1: the call returns when the run is
                    queued (see above) */
} tunec_run_options;
/* Runs the model like tunec_run, with options. `options` may be null. A stream for a model that
 * runs on the host is TUNEC_INVALID_ARGUMENT. */
TUNEC_API int tunec_run_with_options(tunec_executable* executable, DLTensor* const* inputs,
                                     DLTensor* const* outputs, const tunec_run_options* options);

/* Waits until all runs that were queued before the call are done. Returns an error of these runs
 * that no call has returned yet, or TUNEC_OK. A run that does not end within "hang_after" is
 * TUNEC_DEVICE_ERROR. */
TUNEC_API int tunec_wait(tunec_executable* executable);

/* Returns notes for users about how the model runs, one per line; "" without notes. On a GPU, notes
 * name misaligned tensors that runs have copied, and say why kernels are launched one by one. For a
 * bundle, notes name skipped variants with the reason, for example a missing driver. A
 * dynamic-shape model has only the note about skipped variants. The text is valid until this
 * thread's next call of tunec_notes. */
TUNEC_API const char* tunec_notes(const tunec_executable* executable);

/* Returns the number of indices of gathers (token numbers of embeddings, labels) that were out of
 * range, over all runs of the executable so far, except queued runs. For an axis of n elements, -n
 * to n-1 are in range; negative indices count from the end. An index out of range does not fail the
 * run: the nearest index in range is used instead. Indices that are constants of the model are
 * checked by compilation, which fails if they are out of range. */
TUNEC_API uint64_t tunec_outside_indices(const tunec_executable* executable);

/* Return the number of steps of a run, and the name of a step. A step is a kernel, named by the
 * nodes that it computes, or a copy. The name is valid until the executable is released; it is null
 * for an index out of range. */
TUNEC_API size_t tunec_num_steps(const tunec_executable* executable);
TUNEC_API const char* tunec_step_name(const tunec_executable* executable, size_t index);
/* Runs the model like tunec_run and times each step. `seconds` is an array of tunec_num_steps()
 * elements; element i is the time of step i in this run, in seconds. A model with the option
 * "background" has no steps here, because they may change: this call is TUNEC_UNSUPPORTED. */
TUNEC_API int tunec_profile(tunec_executable* executable, DLTensor* const* inputs,
                            DLTensor* const* outputs, double* seconds);

/* Returns the report of the compilation as a JSON object in UTF-8: target, accuracy, numbers of
 * nodes and kernels, bytes, times, trials, and per distinct kernel the origin of its schedule and
 * of its object. The report of a dynamic-shape model has other keys. docs/reference/json.md lists
 * all keys. Keys keep their meanings; later versions may add keys. The text is valid until the
 * executable is released. The texts of a dynamic-shape model and of a model with the option
 * "background" are valid only until this thread's next call of tunec_report_json. Returns null for
 * a null executable. */
TUNEC_API const char* tunec_report_json(const tunec_executable* executable);

/* Returns the message of the latest failed call in this thread, or "" if no call has failed. The
 * text is valid until this thread's next failure. */
TUNEC_API const char* tunec_error_message(void);
/* Returns the number of threads of this process that can run at once, at least one. The
 * number is that of the processors in the calling thread's affinity mask, or less if a container
 * limits the share of time. "threads": 0 means this number. */
TUNEC_API int tunec_num_processors(void);
/* Returns the version of the library, for example "0.1.0". */
TUNEC_API const char* tunec_version(void);

#ifdef __cplusplus
}
#endif

#endif /* TUNEC_TUNEC_H_ */
