// check: --arg out=16 --global 16 --local 4 -cl-std=CL3.0
// The last work-item of a group has no value, and no other one's sum has it.
kernel void earlier(global int *out) {
    int l = get_local_id(0), own;
    if (l < 3)
        own = l;
    int sum = work_group_scan_exclusive_add(own);
    out[get_global_id(0)] = sum;
}
