// How often z = z*z + c can be repeated before |z| exceeds 2. BREAK leaves the loop from its body.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

// So that every device rounds alike. For the same reason `dx` and `dy`, the distances of pixels, come from the host:
// devices may round divisions of floats as they like.
#pragma OPENCL FP_CONTRACT OFF

__kernel void mandelbrot(__global uint *out, const COUNT width, const COUNT height, const uint limit,
                         const float dx, const float dy)
{
    const INDEX px = get_global_id(0);
    const INDEX py = get_global_id(1);

    if (px >= width || py >= height)
        return;

    const float cx = -2.25f + dx * px;
    const float cy = -1.5f + dy * py;
    float x = 0.0f, y = 0.0f;
    uint n = 0;
#ifdef BREAK
    for (n = 0; n < limit; n++) {
        const float xx = x * x, yy = y * y;
        if (xx + yy > 4.0f)
            break;
        y = 2.0f * x * y + cy;
        x = xx - yy + cx;
    }
#else
    while (x * x + y * y <= 4.0f && n < limit) {
        const float next = x * x - y * y + cx;
        y = 2.0f * x * y + cy;
        x = next;
        n++;
    }
#endif
    out[py * width + px] = n;
}
