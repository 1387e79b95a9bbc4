/* The C interface of tunec: compile a model to native code, run it. tunec.hpp is the same for C++.
 *
 *     tunec_executable *model = NULL;
 *     if (tunec_compile("resnet50.onnx", "{\"threads\": 2}", &model) != TUNEC_OK)
 *       puts(tunec_error_message());
 *     tunec_run(model, inputs, outputs);   // arrays of DLTensor *
 *     tunec_release(model);
 *
 * Every function may be called from any thread. One executable may run in several threads at
 * once; it must not be released while it runs. Functions that can fail return a tunec_status, and
 * tunec_error_message() tells what went wrong in the calling thread.
 *
 * Structs begin with their size in bytes, and later versions may add members at their end. So a
 * program and a library that know different members of a struct go on working together: whoever
 * made it states the size, and a member beyond it is not there. */
#ifndef TUNEC_TUNEC_H_
#define TUNEC_TUNEC_H_

#include <stddef.h>
#include <stdint.h>

/* DLPack's tensor, an open standard that NumPy, PyTorch and others share. Where its header is not
 * installed, and was not included before this one, the same layout is declared here. */
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

/* What a call came to. Numbers are never changed, new ones may be added. */
typedef enum tunec_status {
  TUNEC_OK = 0,
  TUNEC_INVALID_ARGUMENT = 1, /* a wrong option, shape, type, null pointer */
  TUNEC_PARSE_ERROR = 2,      /* a malformed model or option text */
  TUNEC_UNSUPPORTED = 3,      /* well-formed, but tunec cannot do it */
  TUNEC_NOT_FOUND = 4,        /* a file */
  TUNEC_IO_ERROR = 5,         /* reading or writing failed */
  TUNEC_ILLEGAL_SCHEDULE = 6, /* a failure of tunec's, as are 10 and 11 */
  TUNEC_RESOURCE_LIMIT = 7,   /* memory or another quota */
  TUNEC_DEVICE_ERROR = 8,     /* the processor lacks something */
  TUNEC_CANCELLED = 9,        /* by the callback */
  TUNEC_WRONG_RESULT = 10,
  TUNEC_INTERNAL_ERROR = 11
} tunec_status;

typedef struct tunec_executable tunec_executable;

/* How far tuning has come. All tasks (distinct kernels of the model) taken together. The library
 * makes it, and it lives during the call that receives it. */
typedef struct tunec_progress {
  size_t size;            /* bytes of this struct as the library knows it */
  size_t tasks;           /* distinct kernels to tune */
  size_t tasks_timed;     /* of these, with a correct trial */
  int64_t trials;         /* that count for the budget, those of earlier runs included */
  int64_t budget;         /* the option `trials` */
  int64_t measured;       /* by this call */
  double elapsed_seconds; /* of this call's tuning */
  double model_seconds;   /* sum of the best kernel times; negative while some are unknown */
} tunec_progress;

/* Called in the thread that compiles. Any of the functions may be null. They must not call
 * tunec_release, and must not leave by longjmp. A program that was built with fewer functions goes
 * on working. So does one that was built with more, as long as those that this library does not
 * know are null. Where one of them is not, the answer is TUNEC_INVALID_ARGUMENT: the library would
 * never call it. */
typedef struct tunec_callbacks {
  size_t size; /* set it to sizeof(tunec_callbacks); all bytes of it are read */
  void* user;  /* handed to each */
  void (*progress)(void* user, const tunec_progress* progress);
  int (*cancelled)(void* user);              /* nonzero: stop; what was measured is kept */
  void (*log)(void* user, const char* line); /* without a newline */
} tunec_callbacks;

/* Compiles the model at `model_path` (.onnx, or .graph with its weights in the .safetensors beside
 * it). `options_json` is null or a JSON object with any of these keys. Measuring (trials > 0) runs
 * the program tunec-worker; TUNEC_NOT_FOUND names the places where it was looked for.
 *
 *   "shapes": {"INPUT": [N, ...], ...}
 *       shapes of inputs whose dimensions the model leaves open
 *   "dims": {"NAME": N or [N, ...] or "N..M", ...}
 *       sizes of open dimensions by name; with several, or a range (16..512), others are rounded up
 *   "layouts": {"INPUT": "LAYOUT", ...}
 *       how inputs and outputs lie: channels_last, row_major, or axes, outermost first
 *   "constants": {"INPUT": "FILE.npy", ...}
 *       bind inputs to the values in files: what shapes depend on has to be known when compiling
 *   "random_weights": N
 *       fill the weights of a .graph from this seed
 *   "external_data": "FOLDER"
 *       where the external data of an ONNX model lies (default: the folder of the model's file)
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
 *       with cuda: a run that is not done by then hangs (default: 2m)
 *   "trials": N
 *       measured candidates for the whole model, recorded ones counted (default: 0)
 *   "time_limit": "TIME"
 *       ends tuning after 30s, 10m or 1h; without trials the only limit
 *   "retune": ["GROUP", ...]
 *       go on with converged groups, with trials of their own: a number, a node's name, or all
 *   "verbose": true
 *       notes on schedules that are refused, too
 *   "db": "FILE" or null
 *       the tuning database (default: tunec/tunec.db in the user's cache folder)
 *   "threads": N
 *       threads of a run (default: 0: one per core)
 *   "share_threads": true
 *       run on the threads of the other models of the process that do, too
 *   "accuracy": "CONTRACT"
 *       exact, f32, tf32, bf16, or a bound as a number (default: f32)
 *   "cpu": "NAME"
 *       native or an LLVM processor name, with ,-feature or ,+feature (default: native)
 *   "seed": N
 *       of the search (default: 0)
 *   "disable_pass": ["NAME", ...]
 *       graph passes to leave out
 *   "rules": ["FILE", ...]
 *       files of graph rewrites, pattern => replacement
 *   "fast_math": true
 *       allow rewrites that change results for NaN, infinities and signed zeros
 *   "naive": true
 *       use only the naive schedules
 *   "failures": "FOLDER"
 *       write each failing candidate here as a case that tunec-worker --repeat runs again
 *   "worker": "FILE"
 *       the program that measures candidates (default: tunec-worker beside the program or library)
 *   "perf_map": true
 *       name the kernels for perf
 *
 * An executable has threads of its own, unless "share_threads" gives it those of the others with
 * that option and as many threads. Run such models one after the other: of two runs at the same
 * time, one has all the threads and the other runs on its caller's. An accuracy may be a JSON
 * number. Without "db" results are kept in the user's database, which is left out where it cannot
 * be opened; with null or "" nowhere. Inputs bound by "constants" are no inputs of the executable.
 * With a "cpu" that this machine is not, runs and trials are TUNEC_DEVICE_ERROR.
 *
 * On success *out is a new executable, otherwise null. */
TUNEC_API int tunec_compile(const char* model_path, const char* options_json,
                            tunec_executable** out);
/* The same; `callbacks` may be null and is copied. */
TUNEC_API int tunec_compile_with_callbacks(const char* model_path, const char* options_json,
                                           const tunec_callbacks* callbacks,
                                           tunec_executable** out);
/* The same for a model in memory: the `num_bytes` at `bytes`, which are not needed afterwards.
 * `format` is "onnx" (the protobuf of a ModelProto) or "graph" (the text), or null to tell it from
 * the bytes. There is no folder: an ONNX model with external data is TUNEC_UNSUPPORTED unless the
 * option "external_data" names its folder, and the weights of a .graph text can be random only.
 * Messages call the model "<memory>". */
TUNEC_API int tunec_compile_bytes(const void* bytes, size_t num_bytes, const char* format,
                                  const char* options_json, const tunec_callbacks* callbacks,
                                  tunec_executable** out);
/* The same for a .graph text of `num_bytes` bytes whose weights lie in memory: weight i of
 * `num_weights` is called names[i] in the text (its KEY, where it says `from "KEY"`), and its
 * elements are those of tensors[i], on the CPU and dense row-major, of at most 64 dimensions. The
 * elements of weights that the text does not name are left alone. The executable may read weights
 * in place: the memory of the tensors has to stay, unchanged, until the executable is released. The
 * names and the DLTensors themselves may go at once. */
TUNEC_API int tunec_compile_graph(const char* text, size_t num_bytes, size_t num_weights,
                                  const char* const* names, const DLTensor* const* tensors,
                                  const char* options_json, const tunec_callbacks* callbacks,
                                  tunec_executable** out);

/* A model whose sizes are open, as a program gives it that makes graphs by itself: a .graph text
 * for any sizes it is asked for. Texts for different sizes differ in numbers alone: in shapes, in
 * attributes, and in constants. */
typedef struct tunec_graph_text {
  const char* text; /* all that is pointed to stays until the next text is asked for; weights' */
  size_t num_bytes; /* elements stay until the model is released (see tunec_compile_graph) */
  size_t num_weights;
  const char* const* names;
  const DLTensor* const* tensors;
} tunec_graph_text;
typedef struct tunec_open_axis {
  size_t input;     /* its number */
  size_t axis;      /* the size of which is that of */
  size_t dimension; /* this dimension, by its number */
} tunec_open_axis;
typedef struct tunec_graph_source {
  size_t size; /* set it to sizeof(tunec_graph_source); all bytes of it are read */
  void* user;  /* handed to both functions */
  size_t num_dimensions;
  const char* const* dimensions; /* their names */
  const int64_t* example;        /* of each, a size that there is a text for */
  size_t num_axes;
  const tunec_open_axis* axes; /* of the inputs, all that are open */
  /* The text for these sizes, one of each dimension. Nonzero: there is none. TUNEC_CANCELLED: the
   * call that asked ends with this, and learns nothing of these sizes. Called in any thread that
   * compiles or runs, one at a time, also after tunec_compile_any_size has returned. */
  int (*text_at)(void* user, const int64_t* sizes, tunec_graph_text* text);
  void (*release)(void* user); /* may be null; called once, when nothing is asked for any more, also
                                * where compiling fails */
  /* Nonzero: all numbers of the texts are sums and products of sizes, beside those that rules of
   * operators give. Zero: the text of each size is asked for and compared before a run of it. */
  int follows_rules;
} tunec_graph_source;
/* Compiles a model that runs on inputs of any size. "dims" in the options lists sizes that are
 * compiled for at once, each combination (of more than are kept: TUNEC_RESOURCE_LIMIT). A name that
 * is no dimension of the source is TUNEC_INVALID_ARGUMENT. Sizes of a range, and sizes not listed,
 * are rounded up, and compiled for when a run first needs them. Such a run computes with positions
 * beyond the size, and whatever mixes positions (sums, softmax, attention) leaves those out:
 * results are the results of the size itself. Runs of several independent elements (a batch) may be
 * cut into runs of fewer. A graph that cannot be padded is compiled for each size. At most 24
 * executables are kept, on a GPU 96; they share their weights.
 *
 * Shapes of inputs and outputs have -1 where a size is open; tunec_output_shapes tells those of a
 * run. Steps are not told, and all tensors lie on the CPU. `callbacks` are called by this call
 * alone. */
TUNEC_API int tunec_compile_any_size(const tunec_graph_source* source, const char* options_json,
                                     const tunec_callbacks* callbacks, tunec_executable** out);

/* Compiles the model of `of` once more, for tensors that lie otherwise: `layouts_json` is an object
 * as that of the option "layouts", and takes its place. Everything else is as it was for `of`,
 * except that nothing is tuned: what the database knows is used. The two share their weights, so
 * what tunec_compile_graph was given has to stay until both are released. The files of a model,
 * those of its weights included, are read again: TUNEC_IO_ERROR where one is another than it was.
 * TUNEC_UNSUPPORTED of bytes that were not said to be of "graph", which are gone, of a model of any
 * size, and of a bundle. `callbacks` may be null. */
TUNEC_API int tunec_compile_layouts(const tunec_executable* of, const char* layouts_json,
                                    const tunec_callbacks* callbacks, tunec_executable** out);

/* How a bundle is loaded. All bytes that are not set have to be zero. */
typedef struct tunec_load_options {
  size_t size;          /* set it to sizeof(tunec_load_options); all bytes of it are read */
  size_t threads;       /* of a run; 0: as many as it was built for, at most one per core */
  size_t share_threads; /* 1: run on the threads of the other models that do, too */
  const char* device; /* of a bundle that is for GPUs, too: the number or the UUID of one, or "cpu";
                       * null: the first GPU that runs it, else the CPU */
} tunec_load_options;

/* Loads the bundle at `path`, which `tunec build` wrote: nothing is compiled, linked or packed.
 * `options` may be null. Of the variants in the file the first is taken that this machine can run,
 * those for a GPU before those for a processor; TUNEC_DEVICE_ERROR names what is missing where
 * there is none. tunec_notes tells why variants were passed over. The file is mapped, and its
 * weights and its code are used where they are: it may be replaced by another (renamed over) while
 * the executable lives, but must not be written to or cut short. A run after such a change is
 * TUNEC_IO_ERROR. Damage to the file and plans that would leave their buffers are
 * TUNEC_PARSE_ERROR. The machine code of a bundle is not checked: load bundles from trusted sources
 * alone. tunec_report_json tells what the compiler did.
 *
 * This function, and all below it, are those of libtunec_runtime.so, too, which holds no compiler:
 * a program that compiles nothing links that instead. */
TUNEC_API int tunec_load(const char* path, const tunec_load_options* options,
                         tunec_executable** out);

/* Null is allowed. Waits for runs that were queued. */
TUNEC_API void tunec_release(tunec_executable* executable);

/* What goes in and comes out. Pointers live as long as the executable. An index out of range gives
 * null, -1 dimensions, or a type of 0 bits. Shapes of scalars have no elements. A size that may
 * vary (tunec_compile_any_size, "dims" with several sizes) is -1. */
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
/* How its elements lie in memory: its axes, outermost first, as the option "layouts" said. Null:
 * row-major. */
TUNEC_API const int64_t* tunec_input_order(const tunec_executable* executable, size_t index);
TUNEC_API const int64_t* tunec_output_order(const tunec_executable* executable, size_t index);
/* The bytes of the whole tensor; 0 for an index out of range, and where a size may vary. */
TUNEC_API size_t tunec_input_bytes(const tunec_executable* executable, size_t index);
TUNEC_API size_t tunec_output_bytes(const tunec_executable* executable, size_t index);
/* The index of the input or output of this name, or -1. */
TUNEC_API int tunec_input_index(const tunec_executable* executable, const char* name);
TUNEC_API int tunec_output_index(const tunec_executable* executable, const char* name);

/* The shapes of the outputs for these inputs, of which only shapes are read: those of output i are
 * written to shapes[i], which has room for tunec_output_ndim numbers. */
TUNEC_API int tunec_output_shapes(tunec_executable* executable, const DLTensor* const* inputs,
                                  int64_t* const* shapes);

/* Runs once. `inputs` and `outputs` hold one tensor for each input and output: on the CPU, of the
 * type and shape stated above, dense in the order stated above (where that is row-major, strides
 * may be null), aligned to the element. Copies nothing; outputs may not overlap each other.
 * Booleans are bytes of 0 or 1, of type kDLBool or 8-bit kDLUInt. On an error no output was
 * written, but for TUNEC_RESOURCE_LIMIT of a model of any size: of a run that is cut into several
 * those before may have been. An output may lie where an input lies: that input is copied aside
 * first, but not where both are the same bytes, each element is read only to be written, and
 * nothing reads the input later, as of a cache of which a run changes some rows.
 *
 * On a GPU (target "cuda") a tensor may lie on the CPU, and is copied, or on that GPU (kDLCUDA,
 * with its number), and is used where it is; one at no multiple of 16 bytes is copied aside, with a
 * line in tunec_notes. What its tensors hold has to be there when the call begins: it does not wait
 * for other streams. When it returns, the run is done. On a TUNEC_DEVICE_ERROR outputs may have
 * been written; where the message says that the GPU is lost, only another process gets it back. */
TUNEC_API int tunec_run(tunec_executable* executable, DLTensor* const* inputs,
                        DLTensor* const* outputs);

/* What a run may be told. All bytes that are not set have to be zero. */
typedef struct tunec_run_options {
  size_t size;   /* set it to sizeof(tunec_run_options); all bytes of it are read */
  void* stream;  /* a CUstream of the GPU that runs the model: the run is put into it, after what is
                  * in it already. Null: a stream of the model's own. CUDA's default stream is
                  * (void*)1, as in DLPack. */
  size_t queued; /* 0: the call waits for the run. 1: it returns when the run is in the stream; all
                  * tensors have to lie on the GPU then, and what they point to stays, unchanged but
                  * for work in that stream, until the run is done. The DLTensors themselves may go
                  * at once. The stream tells when the run is done, or tunec_wait does. What the
                  * call returns is what went wrong so far; an error of the run itself is that of a
                  * later call of tunec_run or its like, which then does not run, or of tunec_wait,
                  * whichever is first. Runs queued in one stream use the same memory one after the
                  * other. In several streams each has its own as long as a run is under way.
                  * Indices of such runs are not counted by tunec_outside_indices. */
} tunec_run_options;
/* The same; `options` may be null. A stream for a model that runs on the host is
 * TUNEC_INVALID_ARGUMENT. */
TUNEC_API int tunec_run_with_options(tunec_executable* executable, DLTensor* const* inputs,
                                     DLTensor* const* outputs, const tunec_run_options* options);

/* Waits until all runs that were queued before the call are done, and returns the first error of
 * those that no call has returned yet. One that does not end is TUNEC_DEVICE_ERROR after
 * "hang_after". */
TUNEC_API int tunec_wait(tunec_executable* executable);

/* What a user should know of how the model runs, a line each: on a GPU tensors that every run
 * copies aside, kernels that are launched one by one; of a bundle variants that were passed over, a
 * GPU's for want of a driver, say. "" without any. Lives until this thread's next call of it. */
TUNEC_API const char* tunec_notes(const tunec_executable* executable);

/* How many indices of gathers (embeddings' token numbers, labels) were out of range, in all runs of
 * the executable so far. In range are -n to n-1 for an axis of n elements, negative ones counting
 * from the end; instead of another index the nearest in range was taken, and the run succeeded.
 * Indices that the model holds as constants are checked when it is compiled: an error. */
TUNEC_API uint64_t tunec_outside_indices(const tunec_executable* executable);

/* A run is a sequence of steps: kernels, named by the nodes they compute, and copies. */
TUNEC_API size_t tunec_num_steps(const tunec_executable* executable);
TUNEC_API const char* tunec_step_name(const tunec_executable* executable, size_t index);
/* tunec_run with a clock: `seconds` has room for tunec_num_steps() numbers, the time of each step
 * in this one run. */
TUNEC_API int tunec_profile(tunec_executable* executable, DLTensor* const* inputs,
                            DLTensor* const* outputs, double* seconds);

/* What compiling came to, as a JSON object in UTF-8: target, accuracy, counts of nodes and kernels,
 * bytes, times, trials, and for each distinct kernel where its schedule and its object come from.
 * It has the keys of `tunec MODEL --json` but for `model`, `ready_seconds`, `latency` and the times
 * that this command measures of each kernel; docs/reference/json.md lists them. Keys keep their meanings, new
 * ones may come. The text belongs to the executable and lives as long, but of a model of any size,
 * which goes on compiling, until this thread's next call of it; null without an executable. */
TUNEC_API const char* tunec_report_json(const tunec_executable* executable);

/* What went wrong in this thread's latest call that failed; "" before any did. Lives until this
 * thread's next failure. */
TUNEC_API const char* tunec_error_message(void);
/* How many threads of this process can run at once: the processors that its affinity allows, or
 * fewer where a container limits its share of time. What "threads": 0 comes to. At least 1. */
TUNEC_API int tunec_num_processors(void);
/* "0.1.0" */
TUNEC_API const char* tunec_version(void);

#ifdef __cplusplus
}
#endif

#endif /* TUNEC_TUNEC_H_ */
