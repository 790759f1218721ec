// check: --arg in=32:index --arg out=32 --global 32 --local 16 -cl-std=CL3.0
// No barrier at all: each work-item has a stack of its own, which a helper function fills through a generic pointer.
void push(uchar *stack, int *top, uchar v)
{
    stack[(*top)++] = v;
}

kernel void reverse_digits(global const uint *in, global uint *out)
{
    local uchar stacks[16][8];
    local uchar *mine = stacks[get_local_id(0)];
    int top = 0, done = 0;
    uint x = in[get_global_id(0)], y = 0;
    do {
        push(mine, &top, x % 3);
        x /= 3;
    } while (x != 0);
    while (done < top)
        y = y * 3 + mine[done++];
    out[get_global_id(0)] = y;
}
