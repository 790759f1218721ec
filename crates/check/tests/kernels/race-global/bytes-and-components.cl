// check: --arg in=32:index --arg rgb=96 --arg mask=32 --global 32 --local 16
// Neighbours write parts of one word: single bytes, and triples of bytes side by side.
kernel void split(global const uint *in, global uchar *rgb, global uchar *mask)
{
    size_t g = get_global_id(0);
    uint p = in[g];
    vstore3((uchar3)(p & 3, p & 7, p & 15), g, rgb);
    mask[g] = p > 9 ? 255 : 0;
}
