// check: --arg out=32 --arg in=32:index --arg table=8:index --global 32 --local 8
// Keys from 16 on choose no slot, but the table is read.
kernel void look_up(global int *out, global const int *in, global const int *table) {
    size_t i = get_global_id(0);
    int key = in[i];
    int slot;
    if (key < 8)
        slot = key;
    else if (key < 16)
        slot = 15 - key;
    out[i] = table[slot]; //~ uninitialised
}
