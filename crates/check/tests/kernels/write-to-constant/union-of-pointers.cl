// check: --arg limits=16:5 --arg in=16:index --global 16 --local 8
// The union has the constant pointer read as a pointer to global memory.
union pointer {
    constant int *read;
    global int *write;
};
kernel void lower_limits(constant int *limits, global const int *in) {
    size_t i = get_global_id(0);
    union pointer p;
    p.read = limits;
    if (in[i] < 5)
        p.write[i] = in[i]; //~ write-to-constant
}
