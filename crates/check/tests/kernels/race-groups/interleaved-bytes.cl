// check: --arg in=64:index --arg out=64 --global 64 --local 16
// Bytes of one word are written by four groups: each byte is a memory location of its own.
kernel void interleave(global const uchar *in, global uchar *out)
{
    size_t l = get_local_id(0), group = get_group_id(0);
    out[l * 4 + group] = in[get_global_id(0)] ^ 0x55;
}
