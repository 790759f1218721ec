// check: --arg in=32:index --arg headers=2 --arg out=32 --global 32 --local 16 -cl-std=CL3.0
// One work-item writes the header of its block; all others read it after a barrier for both memories.
struct header {
    int first;
    uint size;
};

kernel void encode(global const int *in, global struct header *headers, global int *out)
{
    size_t g = get_global_id(0), block = get_group_id(0);
    if (get_local_id(0) == 0) {
        headers[block].first = in[g];
        headers[block].size = get_local_size(0);
    }
    work_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);
    out[g] = in[g] - headers[block].first + headers[block].size;
}
