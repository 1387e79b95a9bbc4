/* Models in memory for the C and the C++ tests. */
#pragma once

/* The model y = relu(x) of four numbers. */
static const unsigned char kReluOnnx[] = {
    0x08, 8,                                      /* ir_version */
    0x3a, 51,                                     /* graph */
    0x0a, 12,                                     /*   node */
    0x0a, 1,  'x',  0x12, 1,    'y',              /*     input, output */
    0x22, 4,  'R',  'e',  'l',  'u',              /*     op_type */
    0x12, 1,  'g',                                /*   name */
    0x5a, 15,                                     /*   input */
    0x0a, 1,  'x',  0x12, 10,   0x0a, 8, 0x08, 1, /*     name, float tensor */
    0x12, 4,  0x0a, 2,    0x08, 4,                /*     of shape [4] */
    0x62, 15,                                     /*   output */
    0x0a, 1,  'y',  0x12, 10,   0x0a, 8, 0x08, 1, /*     name, float tensor */
    0x12, 4,  0x0a, 2,    0x08, 4,                /*     of shape [4] */
    0x42, 2,  0x10, 13};                          /* opset_import: version 13 */

/* The same model with an initializer `w` whose data is in a file `f`. */
static const unsigned char kExternalOnnx[] = {
    0x08, 8,                                               /* ir_version */
    0x3a, 77,                                              /* graph */
    0x0a, 12,                                              /*   node */
    0x0a, 1,  'x',  0x12, 1,    'y',                       /*     input, output */
    0x22, 4,  'R',  'e',  'l',  'u',                       /*     op_type */
    0x12, 1,  'g',                                         /*   name */
    0x2a, 24,                                              /*   initializer */
    0x08, 4,  0x10, 1,                                     /*     four floats */
    0x42, 1,  'w',                                         /*     name */
    0x6a, 13,                                              /*     external_data */
    0x0a, 8,  'l',  'o',  'c',  'a',  't', 'i',  'o', 'n', /*       key */
    0x12, 1,  'f',                                         /*       value */
    0x70, 1,                                               /*     data_location: external */
    0x5a, 15,                                              /*   input */
    0x0a, 1,  'x',  0x12, 10,   0x0a, 8,   0x08, 1,        /*     name, float tensor */
    0x12, 4,  0x0a, 2,    0x08, 4,                         /*     of shape [4] */
    0x62, 15,                                              /*   output */
    0x0a, 1,  'y',  0x12, 10,   0x0a, 8,   0x08, 1,        /*     name, float tensor */
    0x12, 4,  0x0a, 2,    0x08, 4,                         /*     of shape [4] */
    0x42, 2,  0x10, 13};                                   /* opset_import: version 13 */

/* The model y = x * 2. */
static const char kDoubleGraph[] =
    "# comments\n"
    "// of both kinds\n"
    "graph double {\n"
    "  input x: f32[4]\n"
    "  constant two: f32[] = 2\n"
    "  p = mul(x, two)\n"
    "  output y = p\n"
    "}\n";
