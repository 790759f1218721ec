// check: --arg out=16 --arg in=16:index --global 16 --local 8
// Odd slots hold two floats; all slots are used as pointers.
union slot {
    global const int *where;
    float2 pair;
};
kernel void values(global int *out, global const int *in) {
    int i = get_global_id(0);
    union slot s;
    if (i % 2 == 0)
        s.where = in + i;
    else
        s.pair = (float2)(i, 1.0f);
    out[i] = *s.where; //~ invalid-pointer
}
