// check: --arg out=16 --arg in=128:index --global 16 --local 8
// The stack has room for eight values; only those that were pushed are popped.
kernel void odd_sums(global int *out, global const int *in) {
    size_t i = get_global_id(0);
    int stack[8];
    int top = 0;
    for (int k = 0; k < 8; k++)
        if (in[8 * i + k] % 2 == 1)
            stack[top++] = in[8 * i + k];
    int sum = 0;
    while (top > 0)
        sum = stack[--top] - sum;
    out[i] = sum;
}
