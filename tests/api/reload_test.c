/* Loads libtunec.so, compiles a model without running it, unloads the library, and repeats this:
 * test_reload LIBRARY MODEL. */
#include <dlfcn.h>
#include <stdio.h>

typedef int (*compile_function)(const char*, const char*, void**);
typedef void (*release_function)(void*);
typedef const char* (*message_function)(void);

/* C does not convert a pointer to data to a pointer to a function. */
#define FIND(pointer) (*(void**)(void*)&(pointer))

int main(int argc, char** argv) {
  if (argc != 3) return 2;
  for (int round = 0; round < 4; ++round) {
    void* library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
      fprintf(stderr, "round %d: %s\n", round, dlerror());
      return 1;
    }
    compile_function compile;
    release_function release;
    message_function message;
    FIND(compile) = dlsym(library, "tunec_compile");
    FIND(release) = dlsym(library, "tunec_release");
    FIND(message) = dlsym(library, "tunec_error_message");
    void* model = NULL;
    if (compile(argv[2], "{\"db\": \"\", \"threads\": 2}", &model) != 0) {
      fprintf(stderr, "round %d: %s\n", round, message());
      return 1;
    }
    release(model);
    if (dlclose(library) != 0) {
      fprintf(stderr, "round %d: %s\n", round, dlerror());
      return 1;
    }
  }
  return 0;
}
