// y = a x + y on floats, an element a work-item. COMPOUND spells the update as one operator.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

#ifndef RESTRICT
#define RESTRICT
#endif

__kernel void saxpy(__global float *RESTRICT y, __global const float *RESTRICT x, const float a, const COUNT n)
{
    const INDEX i = get_global_id(0);

    if (i < n) {
#ifdef COMPOUND
        y[i] += a * x[i];
#else
        y[i] = a * x[i] + y[i];
#endif
    }
}
