// A step of the Game of Life on bytes, a cell a work-item; beyond the edge all cells are dead.

#ifndef INDEX
#define INDEX int
#define COUNT int
#endif

__kernel void life(__global const uchar *in, __global uchar *out, const COUNT width, const COUNT height)
{
    const INDEX x = get_global_id(0);
    const INDEX y = get_global_id(1);

    if (x >= width || y >= height)
        return;

    uint neighbours = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            if (dx == 0 && dy == 0)
                continue;
            const INDEX nx = x + dx, ny = y + dy;
            if (nx >= 0 && nx < width && ny >= 0 && ny < height)
                neighbours += in[ny * width + nx];
        }
    }
    const uchar alive = in[y * width + x];
    out[y * width + x] = neighbours == 3 || (alive && neighbours == 2);
}
