// A sparse matrix in compressed rows times a vector, a row a work-item.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void csr(__global const COUNT *starts, __global const COUNT *columns, __global const float *values,
                  __global const float *x, __global float *y, const COUNT rows)
{
    const INDEX row = get_global_id(0);

    if (row < rows) {
        float sum = 0.0f;
        const INDEX end = starts[row + 1];
        for (INDEX j = starts[row]; j < end; j++)
            sum += values[j] * x[columns[j]];
        y[row] = sum;
    }
}
