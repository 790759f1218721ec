// A convolution with nine weights, which are a private array, or with CONSTANT one in constant memory.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

#define RADIUS 4
#define WEIGHTS {0.02f, 0.06f, 0.12f, 0.18f, 0.24f, 0.18f, 0.12f, 0.06f, 0.02f}

#ifdef CONSTANT
__constant float k[9] = WEIGHTS;
#endif

__kernel void convolution(__global const float *in, __global float *out, const COUNT n)
{
#ifndef CONSTANT
    const float k[9] = WEIGHTS;
#endif
    const INDEX i = get_global_id(0);

    if (i >= n)
        return;

    float sum = 0.0f;
    for (int d = -RADIUS; d <= RADIUS; d++) {
        const INDEX j = i + d;
        if (j >= 0 && j < n)
            sum += k[d + RADIUS] * in[j];
    }
    out[i] = sum;
}
