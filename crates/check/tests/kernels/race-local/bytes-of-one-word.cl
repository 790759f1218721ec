// check: --arg in=32:index --arg packed=8 --global 32 --local 16
// Neighbours store different bytes of one word without order: bytes are memory locations of their own.
kernel void pack(global const uint *in, global uint *packed)
{
    local uchar bytes[16];
    size_t l = get_local_id(0);
    bytes[l] = (uchar)in[get_global_id(0)];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l % 4 == 0)
        packed[get_global_id(0) / 4] = as_uint(vload4(l / 4, bytes));
}
