// check: --arg tasks=20:index --arg n=20 --arg next=1 --arg done=20 --global 16 --local 16
// 16 work-items draw 20 tasks: in the second round only some of them get one.
kernel void work(global const int *tasks, int n, volatile global int *next, global int *done)
{
    int i = atomic_inc(next);
    while (i < n) {
        done[i] = tasks[i] * tasks[i];
        barrier(CLK_GLOBAL_MEM_FENCE); //~ barrier-divergence
        i = atomic_inc(next);
    }
}
