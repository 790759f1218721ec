// check: --arg pixels=64:index --arg bins=16 --global 64 --local 32
// Each group has bins of its own, but its work-items share them without atomics.
kernel void histogram(global const uchar *pixels, global uint *bins)
{
    global uint *mine = bins + get_group_id(0) * 8;
    uchar p = pixels[get_global_id(0)];
    mine[p % 8] += 1; //~ race-global
}
