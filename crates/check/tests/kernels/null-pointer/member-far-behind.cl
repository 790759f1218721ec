// check: --arg out=4 --arg n=1 --global 4 --local 4
// The member lies thousands of bytes behind the null pointer.
typedef struct { int head[2000]; int tail; } queue;
kernel void tail(global int *out, int n) {
    global queue *q = n > 1 ? (global queue *)out : 0;
    out[get_global_id(0)] = q->tail; //~ null-pointer
}
