// Each work-item adds up four reads, a little apart and off the grid. All coordinates are exact, so that every platform
// reads the same neighbours with the same weights.

#define PLACE(x, y, dx, dy) (float2)((x) * (31.0f / 32.0f) + (dx), (y) * (31.0f / 32.0f) + (dy))

// The same sum for all formats; channels that a format lacks count too, as OpenCL defines them.
float sum(float4 v)
{
    return v.x + 2.0f * v.y + 3.0f * v.z + 4.0f * v.w;
}

#define READ4(read)                                                                                                    \
    (sum(read(PLACE(x, y, 0.375f, 0.125f))) + sum(read(PLACE(x, y, 0.875f, 0.375f)))                                   \
     + sum(read(PLACE(x, y, 0.125f, 0.625f))) + sum(read(PLACE(x, y, 0.625f, 0.875f))))

