// Copies of lines and of planes of lines between global and local memory: async_work_group_copy_2D2D and _3D3D.
//
// In: the arguments of async_work_group_copy_3D3D but the event; a copy in two dimensions is one of one plane. The
// work-items of the group share the elements of long lines, and take a short line each. Waiting for the event is a
// barrier, so that all have made their part then.

#define FN __attribute__((overloadable))

// Words where everything lies at multiples of them, else bytes. Lines and planes are whole elements apart.
#define LINES(DST, SRC, T)                                                                         \
    {                                                                                              \
        size_t units = line * (size / sizeof(T));                                                  \
        size_t items = get_local_size(0) * get_local_size(1) * get_local_size(2);                  \
        size_t me = get_local_linear_id();                                                         \
        size_t first = units < items ? me : 0, step = units < items ? items : 1;                   \
        size_t begin = units < items ? 0 : me, by = units < items ? 1 : items;                     \
        for (size_t n = first; n < lines * planes; n += step) {                                    \
            size_t p = n / lines, l = n % lines;                                                   \
            DST T *t = (DST T *)(to + (p * dst_plane + l * dst_line) * size);                      \
            const SRC T *f = (const SRC T *)(from + (p * src_plane + l * src_line) * size);        \
            for (size_t i = begin; i < units; i += by)                                             \
                t[i] = f[i];                                                                       \
        }                                                                                          \
    }

#define COPY(DST, SRC)                                                                             \
    void FN __async_work_group_copy_3D3D(DST uchar *dst, size_t dst_offset, SRC uchar *src,        \
                                         size_t src_offset, size_t size, size_t line,              \
                                         size_t lines, size_t planes, size_t src_line,             \
                                         size_t src_plane, size_t dst_line, size_t dst_plane)      \
    {                                                                                              \
        DST uchar *to = dst + dst_offset * size;                                                   \
        SRC uchar *from = src + src_offset * size;                                                 \
        if ((((size_t)to | (size_t)from | size) & 3) == 0)                                         \
            LINES(DST, SRC, uint)                                                                  \
        else                                                                                       \
            LINES(DST, SRC, uchar)                                                                 \
    }

COPY(local, global)
COPY(global, local)
