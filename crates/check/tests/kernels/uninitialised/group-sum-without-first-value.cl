// check: --arg out=4 --arg in=16:index --global 16 --local 4 -cl-std=CL3.0
// The sum that each work-item gives to its group begins with no value.
kernel void sums(global int *out, global const int *in) {
    int sum;
    for (int i = get_global_id(0); i < 16; i += get_global_size(0))
        sum += in[i];
    int total = work_group_reduce_add(sum);
    if (get_local_id(0) == 0)
        out[get_group_id(0)] = total; //~ uninitialised
}
