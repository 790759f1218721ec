#include "setup.h"
#include "example.h"

void test(void) {
    int counters[4] = {1, 2, 3, 4};
    count(context, queue, build("kernel void k(global int *p) { p[get_global_id(0)] += 1; }", "k"), counters, 4);
    expect(counters[3] == 5);
}
