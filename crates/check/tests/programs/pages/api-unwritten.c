#include "setup.h"
#include "example.h"

void test(void) {
    float from[16] = {0}, to[16];
    copy(context, queue, from, to, sizeof from);
}
