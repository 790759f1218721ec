// A row-major matrix times a vector, a row a work-item. POINTER goes along the row by a pointer, TEMPORARIES names every
// value.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif
#ifndef RESTRICT
#define RESTRICT
#endif

__kernel void matvec(__global const float *RESTRICT a, __global const float *RESTRICT x, __global float *RESTRICT y,
                     const COUNT rows, const COUNT columns)
{
    INDEX row = get_global_id(0);

    if (row >= rows)
        return;

    float sum = 0.0f;
#if defined(POINTER)
    __global const float *p = a + row * columns;
    for (INDEX c = 0; c < columns; c++)
        sum += *p++ * x[c];
#elif defined(TEMPORARIES)
    INDEX first = row;
    first *= columns;
    for (INDEX c = 0; c < columns; ++c) {
        float left = a[first + c];
        float right = x[c];
        float product = left * right;
        sum = sum + product;
    }
#else
    for (INDEX c = 0; c < columns; c++)
        sum += a[row * columns + c] * x[c];
#endif
    y[row] = sum;
}
