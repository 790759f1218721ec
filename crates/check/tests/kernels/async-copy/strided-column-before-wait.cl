// check: --arg m=64:index --arg column=8 --arg out=64 --global 64 --local 8
// A column of the matrix is gathered with a stride, and used before the wait.
kernel void normalise(global const float *m, local float *column, global float *out)
{
    size_t l = get_local_id(0), c = get_group_id(0);
    column[l] = 1.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    event_t loaded = async_work_group_strided_copy(column, m + c, 8, 8, 0); //~ async-copy
    float least = MAXFLOAT;
    for (int i = 0; i < 8; i++)
        least = fmin(least, column[i]); //~ async-copy
    wait_group_events(1, &loaded);
    out[l * 8 + c] = column[l] - least;
}
