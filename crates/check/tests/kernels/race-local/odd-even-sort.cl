// check: --arg in=16:index --arg out=16 --global 8 --local 8
// In one phase each pair belongs to one work-item; a barrier separates the phases.
struct item {
    int key;
    int place;
};

kernel void sort(global const int *in, global int *out)
{
    local struct item items[16];
    int l = get_local_id(0);
    for (int i = l; i < 16; i += 8) {
        items[i].key = in[i] * 7 % 16;
        items[i].place = i;
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int phase = 0; phase < 16; phase++) {
        int i = 2 * l + (phase & 1);
        if (i + 1 < 16 && items[i].key > items[i + 1].key) {
            struct item t = items[i];
            items[i] = items[i + 1];
            items[i + 1] = t;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    out[2 * l] = items[2 * l].place;
    out[2 * l + 1] = items[2 * l + 1].place;
}
