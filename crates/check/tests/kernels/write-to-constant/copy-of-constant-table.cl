// check: --arg out=16 --arg in=16:index --global 16 --local 8
// The table is copied to private memory, and only the copy is changed.
constant int table[4] = {1, 3, 5, 7};
kernel void adapted(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int mine[4];
    for (int k = 0; k < 4; k++)
        mine[k] = table[k];
    mine[i & 3] += in[i];
    out[i] = mine[0] + mine[1] + mine[2] + mine[3];
}
