#include "missing.h"
#inclde "x.h"
#define
#define SQR(x) (x * x
#define SQR(x) ((x) * (x))
#define CAT(a, b) a ## b
#if SIZE(3) > 2
#endif
#if 1 +
#elif 1
#endif
#else
#ifdef
#endif
#pragma OPENCL EXTENSION cl_khr_fp64 enable
#pragma OPENCL FP_CONTRACT MAYBE
#pragma omp parallel
int a = SQR(1, 2);
int b = CAT(+, /);
int c = __LINE__;
#warning this is old
#error this is wrong
int d = SQR(;
#if 0
