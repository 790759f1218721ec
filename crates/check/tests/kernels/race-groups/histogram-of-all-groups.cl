// check: --arg pixels=64:index --arg bins=8 --global 64 --local 16
// All groups increment the same bins, only by atomics.
kernel void histogram(global const uchar *pixels, volatile global uint *bins)
{
    uchar p = pixels[get_global_id(0)];
    atomic_inc(&bins[p & 7]);
    if (p > 60)
        atomic_max(&bins[0], 3u);
}
