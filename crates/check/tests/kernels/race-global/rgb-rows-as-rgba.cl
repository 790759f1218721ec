// check: --arg in=64:index --arg out=98 --global 16x2 --local 16x1
// Rows of packed RGB are written four components at a time: the fourth belongs to the next pixel of the row.
kernel void drop_alpha(global const uchar *in, global uchar *out)
{
    size_t x = get_global_id(0), y = get_global_id(1);
    uchar4 p = vload4(x, in);
    global uchar *row = out + y * 49;
    vstore4(p, 0, row + 3 * x); //~ race-global
}
