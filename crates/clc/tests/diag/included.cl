#include "header.h"
kernel void f(global int *a) { a[0] = helper(LIMIT) }
