// LU decomposition with partial pivoting of many small matrices, N by N, row-major, in place: P A = L U, L with ones on
// its diagonal, which are not stored. pivots[k] is the row that changed places with row k in step k.

// One work-item a matrix, in global memory all the time.
__kernel void lu_global(__global float *matrices, __global int *pivots, unsigned count)
{
    if (get_global_id(0) >= count)
        return;
    __global float *a = matrices + get_global_id(0) * N * N;
    __global int *p = pivots + get_global_id(0) * N;

    for (int k = 0; k < N; k++) {
        int best = k;
        for (int i = k + 1; i < N; i++)
            if (fabs(a[i * N + k]) > fabs(a[best * N + k]))
                best = i;
        p[k] = best;
        if (best != k)
            for (int j = 0; j < N; j++) {
                const float t = a[k * N + j];
                a[k * N + j] = a[best * N + j];
                a[best * N + j] = t;
            }
        for (int i = k + 1; i < N; i++) {
            const float f = a[i * N + k] / a[k * N + k];
            a[i * N + k] = f;
            for (int j = k + 1; j < N; j++)
                a[i * N + j] -= f * a[k * N + j];
        }
    }
}

// One work-item a matrix, on a private copy.
__kernel void lu_private(__global float *matrices, __global int *pivots, unsigned count)
{
    if (get_global_id(0) >= count)
        return;
    __global float *m = matrices + get_global_id(0) * N * N;
    __global int *p = pivots + get_global_id(0) * N;
    float a[N][N];

    for (int i = 0; i < N * N; i++)
        a[i / N][i % N] = m[i];
    for (int k = 0; k < N; k++) {
        int best = k;
        for (int i = k + 1; i < N; i++)
            if (fabs(a[i][k]) > fabs(a[best][k]))
                best = i;
        p[k] = best;
        for (int j = 0; j < N; j++) {
            const float t = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = t;
        }
        for (int i = k + 1; i < N; i++) {
            const float f = a[i][k] / a[k][k];
            a[i][k] = f;
            for (int j = k + 1; j < N; j++)
                a[i][j] -= f * a[k][j];
        }
    }
    for (int i = 0; i < N * N; i++)
        m[i] = a[i / N][i % N];
}

// N work-items a matrix, TEAMS matrices a group, in local memory. A work-item is a column while rows change places, and
// a row while it is eliminated.
// Teams beyond the last matrix take the identity: they have to meet the barriers too, and it has no zero pivot.
#define TEAM_LOAD                                                               \
    __local float shared[TEAMS][N][N];                                          \
    __local int chosen[TEAMS];                                                  \
    const int t = get_local_id(0) / N, r = get_local_id(0) % N;                 \
    const unsigned id = get_group_id(0) * TEAMS + t;                            \
    __local float(*a)[N] = shared[t];                                           \
    for (int j = 0; j < N; j++)                                                 \
        a[r][j] = id < count ? matrices[(id * N + r) * N + j] : r == j;         \
    barrier(CLK_LOCAL_MEM_FENCE)

#define TEAM_STORE                                                              \
    if (id < count)                                                             \
        for (int j = 0; j < N; j++)                                             \
            matrices[(id * N + r) * N + j] = a[r][j]

__kernel void lu_team(__global float *matrices, __global int *pivots, unsigned count)
{
    TEAM_LOAD;
    for (int k = 0; k < N; k++) {
        if (r == k) {
            int best = k;
            for (int i = k + 1; i < N; i++)
                if (fabs(a[i][k]) > fabs(a[best][k]))
                    best = i;
            chosen[t] = best;
            if (id < count)
                pivots[id * N + k] = best;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        const int best = chosen[t];
        if (best != k) {
            const float swap = a[k][r];
            a[k][r] = a[best][r];
            a[best][r] = swap;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        if (r > k) {
            const float f = a[r][k] / a[k][k];
            a[r][k] = f;
            for (int j = k + 1; j < N; j++)
                a[r][j] -= f * a[k][j];
        }
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    TEAM_STORE;
}

// The same with loops of one length for all: iterations that do not concern a work-item are masked, not skipped.
__kernel void lu_masked(__global float *matrices, __global int *pivots, unsigned count)
{
    TEAM_LOAD;
    for (int k = 0; k < N; k++) {
        // Every work-item of the team looks for itself.
        int best = k;
        float most = fabs(a[k][k]);
        for (int i = 0; i < N; i++) {
            const float candidate = fabs(a[i][k]);
            const int better = i > k && candidate > most;
            best = better ? i : best;
            most = better ? candidate : most;
        }
        barrier(CLK_LOCAL_MEM_FENCE);
        // Also where best is k: both are the same value then.
        const float upper = a[k][r], lower = a[best][r];
        a[best][r] = upper;
        a[k][r] = lower;
        barrier(CLK_LOCAL_MEM_FENCE);
        const float f = r > k ? a[r][k] / a[k][k] : 0.0f;
        for (int j = 0; j < N; j++) {
            const float old = a[r][j];
            const float eliminated = old - f * a[k][j];
            const float kept = j > k ? eliminated : j == k ? f : old;
            // Rows up to k are done, and others read row k meanwhile.
            if (r > k)
                a[r][j] = kept;
        }
        if (r == k && id < count)
            pivots[id * N + k] = best;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    TEAM_STORE;
}

// One work-item a matrix, on a private copy, in another layout: element e of matrix m is at e * count + m, so that
// adjacent work-items read adjacent elements.
__kernel void lu_soa(__global float *matrices, __global int *pivots, unsigned count)
{
    const unsigned id = get_global_id(0);
    if (id >= count)
        return;
    float a[N][N];

    for (int i = 0; i < N * N; i++)
        a[i / N][i % N] = matrices[i * count + id];
    for (int k = 0; k < N; k++) {
        int best = k;
        for (int i = k + 1; i < N; i++)
            if (fabs(a[i][k]) > fabs(a[best][k]))
                best = i;
        pivots[k * count + id] = best;
        for (int j = 0; j < N; j++) {
            const float t = a[k][j];
            a[k][j] = a[best][j];
            a[best][j] = t;
        }
        for (int i = k + 1; i < N; i++) {
            const float f = a[i][k] / a[k][k];
            a[i][k] = f;
            for (int j = k + 1; j < N; j++)
                a[i][j] -= f * a[k][j];
        }
    }
    for (int i = 0; i < N * N; i++)
        matrices[i * count + id] = a[i / N][i % N];
}
