// check: --arg out=16 --arg in=64:index --global 16 --local 8
// There is no case for mode 3, so that the row that vload4 reads is none.
kernel void select_row(global float4 *out, global const float *in) {
    int i = get_global_id(0);
    global const float *row = 0;
    switch (i & 3) {
    case 0: row = in; break;
    case 1: row = in + 16; break;
    case 2: row = in + 32; break;
    }
    out[i] = vload4(0, row); //~ null-pointer
}
