// check: --arg out=32 --arg in=32:index --arg ops=32:index --global 32 --local 8
// Operations 0, 1 and 2 have a case; every fourth work-item has operation 3.
kernel void apply(global int *out, global const int *in, global const int *ops) {
    size_t i = get_global_id(0);
    int result;
    switch (ops[i] % 4) {
    case 0: result = in[i] + 1; break;
    case 1: result = in[i] * 2; break;
    case 2: result = -in[i]; break;
    }
    out[i] = result; //~ uninitialised
}
