/* Functions that build a graph node by node. The graph is then compiled, or printed as a `.graph`
 * text. docs/reference/graph_format.md describes operators, types and attributes.
 *
 *     tunec_graph *graph = NULL;
 *     int64_t x, y;
 *     if (tunec_graph_create("double", &graph) ||
 *         tunec_graph_add_input(graph, "x", "f32[n, 4]", &x) ||
 *         tunec_graph_add_node(graph, "add", 2, (int64_t[]){x, x}, NULL, "y", &y) ||
 *         tunec_graph_add_output(graph, "y", y))
 *       puts(tunec_error_message());
 *     tunec_graph_compile(graph, 0, NULL, NULL, NULL, NULL, &model);
 *     tunec_graph_release(graph);
 *
 * Values: each input, weight, constant and node defines one value. The values of a graph have the
 * numbers 0, 1, 2 and so on, in the order of their definition. The type of a node's value is
 * inferred when the node is added.
 *
 * Names: inputs and outputs have the given names. Other values have preferred names: if another
 * value has the name, a number is appended. A null or empty preferred name is replaced by the name
 * of the operator, or by `constant` or the weight's key.
 *
 * Dropped nodes: nodes, weights and constants on which no output depends are neither compiled nor
 * printed. Inputs stay.
 *
 * Errors: functions of type int return a tunec_status. A call that fails changes nothing, and
 * tunec_error_message() returns its message. A null pointer, a value number that the graph does not
 * have and a name that is not allowed are TUNEC_INVALID_ARGUMENT. A malformed text is
 * TUNEC_PARSE_ERROR.
 *
 * Thread safety: different graphs may be used in different threads. Calls with the same graph must
 * not overlap. */
#ifndef TUNEC_GRAPH_H_
#define TUNEC_GRAPH_H_

#include <tunec/tunec.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A graph under construction. tunec_graph_create creates a graph, tunec_graph_release destroys one.
 */
typedef struct tunec_graph tunec_graph;

/* The number for an optional operand that is omitted. */
#define TUNEC_OMITTED (-1)

/* Creates a graph without nodes. On failure *out is null. */
TUNEC_API int tunec_graph_create(const char* name, tunec_graph** out);
/* Destroys a graph. Executables that were made from it stay valid. `graph` may be null. */
TUNEC_API void tunec_graph_release(tunec_graph* graph);

/* Adds an input. `type` is a text such as "f32[n, 3*h + 1]": an element type, and extents that are
 * numbers or expressions of named sizes. No other input may have the name. The function sets *value
 * to the number of the input's value. */
TUNEC_API int tunec_graph_add_input(tunec_graph* graph, const char* name, const char* type,
                                    int64_t* value);
/* Adds a weight, whose elements tunec_graph_compile receives by `key`. The type must have numbers
 * as extents. `key` must not be empty. */
TUNEC_API int tunec_graph_add_weight(tunec_graph* graph, const char* name, const char* type,
                                     const char* key, int64_t* value);
/* Adds a constant. The type must have numbers as extents. `elements` is a number, or a list in
 * row-major order such as "[1, 2.5, -inf]". */
TUNEC_API int tunec_graph_add_constant(tunec_graph* graph, const char* name, const char* type,
                                       const char* elements, int64_t* value);
/* Adds a node. `op` is an operator such as "matmul". `operands` has the numbers of `num_operands`
 * values, or TUNEC_OMITTED; it may be null if `num_operands` is 0. `attributes` is a text such as
 * "axes=[1], keepdims=0"; it may be null. Types that do not fit, and an attribute or a number of
 * operands that the operator does not have, are TUNEC_INVALID_ARGUMENT. Operators with nested
 * graphs and operators without a result are TUNEC_UNSUPPORTED. */
TUNEC_API int tunec_graph_add_node(tunec_graph* graph, const char* op, size_t num_operands,
                                   const int64_t* operands, const char* attributes,
                                   const char* name, int64_t* value);
/* Adds an output of the graph. No other output may have the name. Several outputs may have the same
 * value. */
TUNEC_API int tunec_graph_add_output(tunec_graph* graph, const char* name, int64_t value);

/* Returns the element type of a value, such as "f32"; null for a value that does not exist. */
TUNEC_API const char* tunec_graph_element_type(const tunec_graph* graph, int64_t value);
/* Returns the number of axes of a value; -1 for a value that does not exist. */
TUNEC_API int tunec_graph_rank(const tunec_graph* graph, int64_t value);
/* Returns the extent of an axis as a text: a number such as "64", or an expression such as
 * "3*h + 1". Equal texts are equal sizes. The text is valid until this graph's next call of the
 * function. Returns null for a value or an axis that does not exist. */
TUNEC_API const char* tunec_graph_extent(tunec_graph* graph, int64_t value, size_t axis);

/* Prints the graph as a `.graph` text, which needs an output. *text is valid until the graph's next
 * call of the function. On failure *text is null. */
TUNEC_API int tunec_graph_print(tunec_graph* graph, const char** text);
/* Prints the conditions on named sizes that the types of the nodes need, one per line. Each has one
 * of the forms "n == 2*m", "3 <= h + 2" and "n is 1 or m". Only nodes on which an output depends
 * count. *text is valid until the graph's next call of the function. On failure *text is null. */
TUNEC_API int tunec_graph_conditions(tunec_graph* graph, const char** text);
/* Sets *equal to 1 if a proof is found that two expressions of named sizes are equal for all sizes,
 * otherwise to 0. A named size is an integer of at least 0. */
TUNEC_API int tunec_sizes_are_equal(const char* one, const char* other, int* equal);

/* Compiles the graph, with the options (without "random_weights") and results of tunec_compile. The
 * graph must have an output. The weight with the key names[i] has its elements in tensors[i], as in
 * tunec_compile_graph. The executable may read weights in place, and so may executables that
 * tunec_compile_layouts makes of the executable. The memory of the tensors must stay valid and
 * unchanged until all are released. The graph may be changed or released after the call. */
TUNEC_API int tunec_graph_compile(const tunec_graph* graph, size_t num_weights,
                                  const char* const* names, const DLTensor* const* tensors,
                                  const char* options_json, const tunec_callbacks* callbacks,
                                  tunec_executable** out);

#ifdef __cplusplus
}
#endif

#endif /* TUNEC_GRAPH_H_ */
