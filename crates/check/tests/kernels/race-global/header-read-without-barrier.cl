// check: --arg in=32:index --arg headers=2 --arg out=32 --global 32 --local 16
// One work-item writes the header of the block, all read it at once.
struct header {
    int first;
    int size;
};

kernel void encode(global const int *in, global struct header *headers, global int *out)
{
    size_t g = get_global_id(0), block = get_group_id(0);
    if (get_local_id(0) == 0) {
        headers[block].first = in[g] + 1; //~ race-global
        headers[block].size = get_local_size(0);
    }
    out[g] = in[g] - headers[block].first; //~ race-global
}
