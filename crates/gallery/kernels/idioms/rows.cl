// Each work-item takes a row of its own: its largest element, and then the distance of each element from it.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void rows(__global const float *in, __global float *out, const COUNT height, const COUNT width)
{
    const INDEX row = get_global_id(0);

    if (row >= height)
        return;

    float largest = in[row * width];
    for (INDEX c = 1; c < width; c++)
        largest = fmax(largest, in[row * width + c]);
    for (INDEX c = 0; c < width; c++)
        out[row * width + c] = largest - in[row * width + c];
}
