# Adds two vectors on Cloom's platform, as a user of PyOpenCL does. Prints what it ran on; fails on a wrong result.
import numpy
import pyopencl as cl

platform = next(p for p in cl.get_platforms() if "Cloom" in p.name)
context = cl.Context(platform.get_devices())
queue = cl.CommandQueue(context)
a = numpy.arange(100_000, dtype=numpy.float32)
b = numpy.float32(1) / (a + 1)
flags = cl.mem_flags
a_on_device = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=a)
b_on_device = cl.Buffer(context, flags.READ_ONLY | flags.COPY_HOST_PTR, hostbuf=b)
result_on_device = cl.Buffer(context, flags.WRITE_ONLY, a.nbytes)
program = cl.Program(context, """
    kernel void add(global const float *a, global const float *b, global float *result) {
        size_t i = get_global_id(0);
        result[i] = a[i] + b[i];
    }
""").build()
program.add(queue, a.shape, None, a_on_device, b_on_device, result_on_device)
result = numpy.empty_like(a)
cl.enqueue_copy(queue, result, result_on_device)
assert (result == a + b).all()
print("PyOpenCL", cl.VERSION_TEXT, "on", platform.name, platform.version, "-", context.devices[0].name.strip())
