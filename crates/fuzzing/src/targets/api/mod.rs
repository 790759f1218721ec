//! Sequences of calls of the C interface: valid ones, invalid ones, handles of other kinds, released handles and
//! invented ones, from one thread or several. The process must survive, every call must return, and no object may be
//! left when all is released.
//!
//! It avoids misuse that no driver can detect: host memory that is too small, and waiting for user events that nobody
//! completes.

mod calls;
mod images;

use super::{Reach, Target};
use calls::*;
use cloom_filetest::generate::types::Rng;
use std::collections::HashMap;
use std::ffi::{CString, c_void as Void};
use std::ptr::{null, null_mut};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// See the file's head.
pub const TARGET: Target =
    Target { name: "api", corpus: Vec::new, words: &[], mutated: false, gate: "launched a kernel", run };

/// Bytes of host memory that commands may touch; each size that is valid for a buffer is less.
const HOST: usize = 1 << 20;

/// Memory of the application's that lives as long as the process, as commands may use it at any time.
fn host() -> *mut Void {
    struct Memory(usize);
    static MEMORY: LazyLock<Memory> = LazyLock::new(|| Memory(vec![0u64; HOST / 8].leak().as_mut_ptr().addr()));
    std::ptr::with_exposed_provenance_mut(MEMORY.0)
}

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Kind {
    Context,
    Queue,
    Buffer,
    Program,
    Kernel,
    Event,
    Image,
    Sampler,
}

const KINDS: [Kind; 8] =
    [Kind::Context, Kind::Queue, Kind::Buffer, Kind::Program, Kind::Kernel, Kind::Event, Kind::Image, Kind::Sampler];

/// What the threads share. Handles as numbers.
#[derive(Default)]
struct Pools {
    /// Every handle that ever was, also released ones.
    seen: HashMap<Kind, Vec<usize>>,
    /// References that are ours.
    owned: Vec<(Kind, usize)>,
    user_events: Vec<usize>,
    /// Launches that were not refused.
    launches: u64,
}

struct Player<'a> {
    rng: Rng,
    pools: &'a Mutex<Pools>,
    device: usize,
    platform: usize,
}

const SOURCES: [&str; 8] = [
    "kernel void k(global int *p, int n) { size_t i = get_global_linear_id(); if (p && i < 16) p[i] += n; }",
    "kernel void a(global int *p, local int *l, float4 v) { size_t i = get_local_linear_id(); if (l && i < 4) l[i] = v.x; \
     barrier(CLK_LOCAL_MEM_FENCE); if (p && i < 4 && l) p[i] = l[i]; } kernel void b() { }",
    "struct s { int a[3]; char b; }; \
     kernel __attribute__((reqd_work_group_size(4,1,1))) void c(struct s v, constant int *t, global char *o) { if (t && o) o[0] = t[0] + v.b; }",
    "kernel void d() { printf(\"\"); }",
    "kernel void h(read_only image2d_t a, write_only image2d_t b, sampler_t s) { int2 p = (int2)(get_global_id(0), get_global_id(1)); \
     write_imagef(b, p, read_imagef(a, s, convert_float2(p)) + read_imagef(a, p)); }",
    "int f(int); kernel void e(global int *p) { if (p) p[0] = f(1); }",
    "int f(int x) { return x + 1; }",
    "#if __OPENCL_C_VERSION__ >= 200\nkernel void g(read_only pipe int p, write_only pipe int q, global int *o) \
     { int x; if (!read_pipe(p, &x)) write_pipe(q, &x); if (o) o[0] = get_pipe_num_packets(q); }\n#endif",
];
const OPTIONS: [&str; 7] =
    ["", "-w -cl-std=CL3.0", "-DN=3", "-cl-std=nonsense", "-create-library", "-cl-kernel-arg-info", "\""];
const NAMES: [&str; 10] = ["k", "a", "b", "c", "d", "e", "f", "g", "h", ""];

impl Player<'_> {
    fn pools(&self) -> std::sync::MutexGuard<'_, Pools> {
        self.pools.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A handle: mostly a good one, sometimes anything.
    fn any(&mut self, kind: Kind) -> Handle {
        let n = self.rng.below(100);
        let pick = self.rng.next();
        let other = self.rng.pick(&KINDS);
        let pools = self.pools();
        let owned = |kind| pools.owned.iter().filter(|o| o.0 == kind).map(|o| o.1).collect::<Vec<usize>>();
        let list = match n {
            0..=89 => owned(kind),
            90..=93 => pools.seen.get(&kind).cloned().unwrap_or_default(),
            94..=95 => owned(other),
            96 => vec![self.device, self.platform],
            97 => vec![pick as usize & 0xffff_fff8, 8, 1, usize::MAX, host().addr()],
            _ => Vec::new(),
        };
        let h = if list.is_empty() { 0 } else { list[pick as usize % list.len()] };
        std::ptr::with_exposed_provenance_mut(h)
    }

    fn device(&mut self) -> Handle {
        let d = if self.rng.chance(95) { self.device } else { self.rng.below(1 << 40) as usize };
        std::ptr::with_exposed_provenance_mut(d)
    }

    fn keep(&mut self, kind: Kind, h: Handle) {
        if !h.is_null() {
            let h = h.expose_provenance();
            let mut pools = self.pools();
            pools.owned.push((kind, h));
            pools.seen.entry(kind).or_default().push(h);
        }
    }

    /// Completes every user event, so that waiting calls return.
    fn settle(&mut self) {
        let events = std::mem::take(&mut self.pools().user_events);
        for e in events {
            let status = if self.rng.chance(80) { 0 } else { -(1 + self.rng.below(60) as i32) };
            clSetUserEventStatus(std::ptr::with_exposed_provenance_mut(e), status);
        }
    }

    /// A list of events to wait for. Its length always fits.
    fn waits(&mut self) -> Vec<Handle> {
        let n = if self.rng.chance(60) { 0 } else { self.rng.below(4) };
        (0..n).map(|_| self.any(Kind::Event)).collect()
    }

    /// A number as arguments of this kind are: small, an edge, or anything.
    fn number(&mut self) -> u64 {
        match self.rng.below(8) {
            0..=3 => self.rng.below(65),
            4 => 1 << self.rng.below(64),
            5 => u64::MAX - self.rng.below(3),
            6 => self.rng.below(1 << 16),
            _ => self.rng.next(),
        }
    }

    /// A size of a transfer. Buffers are at most 64 KiB, so that what is valid fits the host's memory.
    fn size(&mut self) -> usize {
        self.number() as usize
    }

    fn play(&mut self, calls: u64) {
        for _ in 0..calls {
            match self.rng.below(10) {
                0..=2 => self.create(),
                3 => self.count(),
                4 => self.query(),
                5 => self.program(),
                _ => self.enqueue(),
            }
        }
    }

    fn create(&mut self) {
        let mut code = 1;
        let code = &raw mut code;
        let code = if self.rng.chance(95) { code } else { null_mut() };
        match self.rng.below(12) {
            9..=11 => self.create_image(code),
            0 => {
                let devices = [self.device(), self.device()];
                let props = [0x1084isize, self.platform as isize, 0];
                let props = if self.rng.chance(50) { props.as_ptr() } else { null() };
                let h = clCreateContext(props, self.rng.below(3) as u32, devices.as_ptr(), null(), null_mut(), code);
                self.keep(Kind::Context, h);
            }
            1 => {
                let (context, device) = (self.any(Kind::Context), self.device());
                let bits = self.rng.pick(&[0, 1, 2, 3, 4, 1 << 40]);
                let h = if self.rng.chance(50) {
                    clCreateCommandQueue(context, device, bits, code)
                } else {
                    let props = [0x1093, bits, 0];
                    clCreateCommandQueueWithProperties(context, device, props.as_ptr(), code)
                };
                self.keep(Kind::Queue, h);
            }
            // A pipe is a memory object too, which what works on buffers must refuse.
            2 if self.rng.chance(15) => {
                let context = self.any(Kind::Context);
                let (flags, packet) =
                    (self.rng.pick(&[0, 1, 512, 513, 2, 8]), self.rng.pick(&[4, 4, 8, 1, 0, 1 << 17]));
                let count = if self.rng.chance(90) { self.rng.below(100) as u32 } else { u32::MAX };
                let h = clCreatePipe(context, flags, packet, count, null(), code);
                self.keep(Kind::Buffer, h);
            }
            2..=4 => {
                let context = self.any(Kind::Context);
                let flags = self.rng.pick(&[0, 1, 2, 4, 1 | 8, 8, 32, 16, 16 | 32, 1 | 128, 256, 7, 1 << 33]);
                let size = if self.rng.chance(90) { 64 + self.rng.below(1 << 16) as usize } else { self.size() };
                // What is used in place or copied must be there.
                let good = size <= HOST;
                let memory = if good && (flags & 40 != 0 || self.rng.chance(3)) { host() } else { null_mut() };
                if good || flags & 40 == 0 {
                    let h = clCreateBuffer(context, flags, size, memory, code);
                    self.keep(Kind::Buffer, h);
                }
            }
            5 => {
                let buffer = self.any(Kind::Buffer);
                let region = [self.size() & if self.rng.chance(80) { !127 } else { !0 }, self.size().max(64)];
                let kind = if self.rng.chance(95) { 0x1220 } else { 0 };
                let flags = self.rng.pick(&[0, 0, 1, 2, 4, 8]);
                let h =
                    clCreateSubBuffer(buffer, flags, kind, if self.rng.chance(97) { &region } else { null() }, code);
                self.keep(Kind::Buffer, h);
            }
            6 => {
                let context = self.any(Kind::Context);
                let h = clCreateUserEvent(context, code);
                self.keep(Kind::Event, h);
                if !h.is_null() {
                    self.pools().user_events.push(h.expose_provenance());
                }
            }
            7 => {
                let program = self.any(Kind::Program);
                let name = CString::new(self.rng.pick(&NAMES)).unwrap_or_default();
                let h = clCreateKernel(program, if self.rng.chance(97) { name.as_ptr() } else { null() }, code);
                self.keep(Kind::Kernel, h);
            }
            _ => {
                let kernel = self.any(Kind::Kernel);
                let h = clCloneKernel(kernel, code);
                self.keep(Kind::Kernel, h);
            }
        }
    }

    /// Retains and releases.
    fn count(&mut self) {
        let kind = self.rng.pick(&KINDS);
        if self.rng.chance(40) {
            let h = self.any(kind);
            let retain = match kind {
                Kind::Context => clRetainContext,
                Kind::Queue => clRetainCommandQueue,
                Kind::Buffer | Kind::Image => clRetainMemObject,
                Kind::Program => clRetainProgram,
                Kind::Kernel => clRetainKernel,
                Kind::Event => clRetainEvent,
                Kind::Sampler => clRetainSampler,
            };
            if retain(h) == 0 {
                self.keep(kind, h);
            }
            return;
        }
        if kind == Kind::Event {
            // Released before it is complete, it could never become so.
            self.settle();
        }
        let taken = {
            let pick = self.rng.next() as usize;
            let mut pools = self.pools();
            let list: Vec<usize> = (0..pools.owned.len()).filter(|&i| pools.owned[i].0 == kind).collect();
            (list.len() > 1).then(|| pools.owned.swap_remove(list[pick % list.len()]).1)
        };
        if let Some(h) = taken {
            release(kind, h);
        }
    }

    fn query(&mut self) {
        let mut value = [0u64; 512];
        let mut size_ret = 0usize;
        let size = if self.rng.chance(70) { 4096 } else { self.rng.below(16) as usize };
        let value = if self.rng.chance(90) { value.as_mut_ptr().cast() } else { null_mut() };
        let out = &raw mut size_ret;
        let out = if self.rng.chance(70) { out } else { null_mut() };
        let low = self.rng.below(0x40) as u32;
        match self.rng.below(15) {
            12..=14 => self.query_image(size, value, out),
            0 => ignore(clGetPlatformInfo(
                std::ptr::with_exposed_provenance_mut(self.platform),
                0x900 + low,
                size,
                value,
                out,
            )),
            1 => ignore(clGetDeviceInfo(self.device(), 0x1000 + self.rng.below(0x80) as u32, size, value, out)),
            2 => ignore(clGetContextInfo(self.any(Kind::Context), 0x1080 + low % 8, size, value, out)),
            3 => ignore(clGetCommandQueueInfo(self.any(Kind::Queue), 0x1090 + low % 12, size, value, out)),
            4 if self.rng.chance(20) => {
                ignore(clGetPipeInfo(self.any(Kind::Buffer), 0x1120 + low % 4, size, value, out));
            }
            4 => ignore(clGetMemObjectInfo(self.any(Kind::Buffer), 0x1100 + low % 16, size, value, out)),
            5 => {
                // The binaries themselves are a list of pointers that must be good.
                let name = 0x1160 + low % 16;
                if name != 0x1166 {
                    clGetProgramInfo(self.any(Kind::Program), name, size, value, out);
                }
            }
            6 => ignore(clGetProgramBuildInfo(
                self.any(Kind::Program),
                self.device(),
                0x1180 + low % 8,
                size,
                value,
                out,
            )),
            7 => ignore(clGetKernelInfo(self.any(Kind::Kernel), 0x1190 + low % 8, size, value, out)),
            8 => ignore(clGetKernelArgInfo(self.any(Kind::Kernel), low % 5, 0x1196 + low % 6, size, value, out)),
            9 => ignore(clGetKernelWorkGroupInfo(
                self.any(Kind::Kernel),
                self.device(),
                0x11b0 + low % 8,
                size,
                value,
                out,
            )),
            10 => ignore(clGetEventInfo(self.any(Kind::Event), 0x11d0 + low % 8, size, value, out)),
            _ => ignore(clGetEventProfilingInfo(self.any(Kind::Event), 0x1280 + low % 6, size, value, out)),
        }
    }

    fn program(&mut self) {
        let mut code = 1;
        let device = [self.device()];
        let (n, devices) = if self.rng.chance(50) { (0, null()) } else { (1, device.as_ptr()) };
        let options = CString::new(self.rng.pick(&OPTIONS)).unwrap_or_default();
        let options = if self.rng.chance(80) { options.as_ptr() } else { null() };
        let notify: Option<ObjectFn> = if self.rng.chance(30) { Some(on_object) } else { None };
        match self.rng.below(8) {
            0 | 1 => {
                let text = self.rng.pick(&SOURCES);
                let (list, sizes) = ([text.as_ptr().cast()], [text.len()]);
                let h = clCreateProgramWithSource(self.any(Kind::Context), 1, list.as_ptr(), sizes.as_ptr(), &mut code);
                self.keep(Kind::Program, h);
            }
            2 => {
                let bytes: Vec<u8> = (0..self.rng.below(64)).map(|_| self.rng.next() as u8).collect();
                let (list, sizes) = ([bytes.as_ptr()], [bytes.len()]);
                let mut status = 0;
                let context = self.any(Kind::Context);
                let h = clCreateProgramWithBinary(
                    context,
                    n,
                    devices,
                    sizes.as_ptr(),
                    list.as_ptr(),
                    &mut status,
                    &mut code,
                );
                self.keep(Kind::Program, h);
            }
            3..=5 => ignore(clBuildProgram(self.any(Kind::Program), n, devices, options, notify, null_mut())),
            6 => {
                let (header, name) = ([self.any(Kind::Program)], [c"x.h".as_ptr()]);
                let count = self.rng.below(2) as u32;
                let program = self.any(Kind::Program);
                let (headers, names) = if count == 0 { (null(), null()) } else { (header.as_ptr(), name.as_ptr()) };
                clCompileProgram(program, n, devices, options, count, headers, names, notify, null_mut());
            }
            _ => {
                let list = [self.any(Kind::Program), self.any(Kind::Program), self.any(Kind::Program)];
                let count = self.rng.below(4) as u32;
                let context = self.any(Kind::Context);
                let h =
                    clLinkProgram(context, n, devices, options, count, list.as_ptr(), notify, null_mut(), &mut code);
                self.keep(Kind::Program, h);
            }
        }
    }

    fn argument(&mut self) {
        let kernel = self.any(Kind::Kernel);
        let kind = self.rng.pick(&[Kind::Buffer, Kind::Buffer, Kind::Image, Kind::Sampler]);
        let buffer = self.any(kind);
        let handle = (&raw const buffer).cast::<Void>();
        let bytes = [3u64; 64];
        let index = self.rng.below(4) as u32;
        match self.rng.below(5) {
            0 | 1 => ignore(clSetKernelArg(kernel, index, 8, handle)),
            2 => ignore(clSetKernelArg(kernel, index, self.rng.pick(&[1, 4, 8, 16, 512]), bytes.as_ptr().cast())),
            // A local argument, or a null pointer.
            3 => ignore(clSetKernelArg(kernel, index, self.rng.pick(&[0, 8, 16, 4096, 1 << 30, usize::MAX]), null())),
            _ => ignore(clSetKernelArg(kernel, self.number() as u32, 4, bytes.as_ptr().cast())),
        }
    }

    fn enqueue(&mut self) {
        let queue = self.any(Kind::Queue);
        let waits = self.waits();
        let (n, list) = (waits.len() as u32, if waits.is_empty() { null() } else { waits.as_ptr() });
        let mut event: Handle = null_mut();
        let place: *mut Handle = if self.rng.chance(50) { &mut event } else { null_mut() };
        let blocking = u32::from(self.rng.chance(20));
        if blocking != 0 {
            self.settle();
        }
        let (buffer, other) = (self.any(Kind::Buffer), self.any(Kind::Buffer));
        let (a, b, size) = (self.size(), self.size(), self.size());
        let triple = |g: &mut Self, most: u64| [0; 3].map(|_: usize| g.rng.below(most) as usize);
        match self.rng.below(22) {
            17..=21 => self.enqueue_image(queue, blocking, n, list, place),
            0 => ignore(clEnqueueReadBuffer(queue, buffer, blocking, a, size, host(), n, list, place)),
            1 => ignore(clEnqueueWriteBuffer(queue, buffer, blocking, a, size, host(), n, list, place)),
            2 => ignore(clEnqueueCopyBuffer(queue, buffer, other, a, b, size, n, list, place)),
            3 => {
                let pattern = [7u64; 16];
                let length = self.rng.pick(&[1, 2, 4, 8, 16, 32, 64, 128, 0, 3]);
                clEnqueueFillBuffer(queue, buffer, pattern.as_ptr().cast(), length, a, size, n, list, place);
            }
            4 => {
                let (origin, to, region) = (triple(self, 5), triple(self, 5), triple(self, 9));
                let pitch = [0; 4].map(|_: usize| self.rng.pick(&[0, 0, 8, 9, 64, 500]));
                let (o, t, r) = (origin.as_ptr(), to.as_ptr(), region.as_ptr());
                clEnqueueReadBufferRect(
                    queue,
                    buffer,
                    blocking,
                    o,
                    t,
                    r,
                    pitch[0],
                    pitch[1],
                    pitch[2],
                    pitch[3],
                    host(),
                    n,
                    list,
                    place,
                );
            }
            5 => {
                let (from, to, region) = (triple(self, 9), triple(self, 9), triple(self, 9));
                let pitch = [0; 4].map(|_: usize| self.rng.pick(&[0, 0, 8, 9, 64, usize::MAX / 2]));
                let (f, t, r) = (from.as_ptr(), to.as_ptr(), region.as_ptr());
                clEnqueueCopyBufferRect(
                    queue, buffer, other, f, t, r, pitch[0], pitch[1], pitch[2], pitch[3], n, list, place,
                );
            }
            6 | 7 => {
                let mut code = 1;
                let flags = self.rng.pick(&[1, 2, 3, 4, 5, 0, 99]);
                let at = clEnqueueMapBuffer(queue, buffer, blocking, flags, a, size, n, list, place, &mut code);
                if !at.is_null() && self.rng.chance(90) {
                    clEnqueueUnmapMemObject(queue, buffer, at, 0, null(), null_mut());
                } else {
                    clEnqueueUnmapMemObject(queue, buffer, host(), 0, null(), null_mut());
                }
            }
            8 => {
                let list_of = [buffer, other];
                let count = self.rng.below(3) as u32;
                clEnqueueMigrateMemObjects(queue, count, list_of.as_ptr(), self.rng.below(5), n, list, place);
            }
            9..=11 => {
                self.argument();
                let kernel = self.any(Kind::Kernel);
                let (offset, global, local) = (triple(self, 3), triple(self, 9), triple(self, 6));
                let local = if self.rng.chance(60) { null() } else { local.as_ptr() };
                let offset = if self.rng.chance(60) { null() } else { offset.as_ptr() };
                let dim = if self.rng.chance(95) { 1 + self.rng.below(3) as u32 } else { self.rng.below(9) as u32 };
                let code = clEnqueueNDRangeKernel(queue, kernel, dim, offset, global.as_ptr(), local, n, list, place);
                self.pools().launches += u64::from(code == 0);
            }
            12 => ignore(clEnqueueTask(queue, self.any(Kind::Kernel), n, list, place)),
            13 => {
                ignore(clEnqueueNativeKernel(queue, Some(on_native), null_mut(), 0, 0, null(), null(), n, list, place));
            }
            14 => ignore(clEnqueueMarkerWithWaitList(queue, n, list, place)),
            15 => ignore(clEnqueueBarrierWithWaitList(queue, n, list, place)),
            _ => match self.rng.below(5) {
                0 => ignore(clFlush(queue)),
                1 => {
                    self.settle();
                    clFinish(queue);
                }
                2 => {
                    self.settle();
                    clWaitForEvents(n, list);
                }
                3 => {
                    let status = self.rng.pick(&[0, 1, 2, 3, -5]);
                    let h = self.any(Kind::Event);
                    clSetEventCallback(h, status, Some(on_event), null_mut());
                    clSetMemObjectDestructorCallback(buffer, Some(on_object), null_mut());
                }
                _ => {
                    let mut list = [null_mut(); 4];
                    let mut count = 0;
                    let most = self.rng.below(5) as u32;
                    let program = self.any(Kind::Program);
                    if clCreateKernelsInProgram(program, most, list.as_mut_ptr(), &mut count) == 0 {
                        list.into_iter().take(count.min(most) as usize).for_each(|h| self.keep(Kind::Kernel, h));
                    }
                }
            },
        }
        self.keep(Kind::Event, event);
    }
}

/// Any code is right: only a crash is wrong.
fn ignore(_code: i32) {}

fn release(kind: Kind, h: usize) {
    let release = match kind {
        Kind::Context => clReleaseContext,
        Kind::Queue => clReleaseCommandQueue,
        Kind::Buffer | Kind::Image => clReleaseMemObject,
        Kind::Program => clReleaseProgram,
        Kind::Kernel => clReleaseKernel,
        Kind::Event => clReleaseEvent,
        Kind::Sampler => clReleaseSampler,
    };
    release(std::ptr::with_exposed_provenance_mut(h));
}

fn run(input: &[u8]) -> Result<Reach, String> {
    calls::load()?;
    let seed: u64 = String::from_utf8_lossy(input).trim().parse().map_err(|_| "the input is no number")?;
    let mut rng = Rng::new(seed);
    let (mut platform, mut device): (Handle, Handle) = (null_mut(), null_mut());
    if clGetPlatformIDs(1, &mut platform, null_mut()) != 0 {
        return Err("no platform".into());
    }
    if clGetDeviceIDs(platform, 0xffff_ffff, 1, &mut device, null_mut()) != 0 {
        return Err("no device".into());
    }
    let (platform, device) = (platform.expose_provenance(), device.expose_provenance());
    let pools = Mutex::new(Pools::default());
    let player = |seed| Player { rng: Rng::new(seed), pools: &pools, device, platform };
    // Something to work with: a context, queues, buffers, a program that is built.
    let mut first = player(rng.next());
    let device_list: [Handle; 1] = [std::ptr::with_exposed_provenance_mut(device)];
    let context = clCreateContext(null(), 1, device_list.as_ptr(), null(), null_mut(), null_mut());
    first.keep(Kind::Context, context);
    for props in [0, 1, 3] {
        first.keep(Kind::Queue, clCreateCommandQueue(context, device_list[0], props, null_mut()));
    }
    for size in [64, 4096, 65536] {
        first.keep(Kind::Buffer, clCreateBuffer(context, 1, size, null_mut(), null_mut()));
    }
    let text = rng.pick(&SOURCES[..5]);
    let (list, sizes) = ([text.as_ptr().cast()], [text.len()]);
    let program = clCreateProgramWithSource(context, 1, list.as_ptr(), sizes.as_ptr(), null_mut());
    first.keep(Kind::Program, program);
    clBuildProgram(program, 0, null(), null(), None, null_mut());
    let mut kernels = [null_mut(); 2];
    let mut count = 0;
    clCreateKernelsInProgram(program, 2, kernels.as_mut_ptr(), &mut count);
    kernels.into_iter().for_each(|h| first.keep(Kind::Kernel, h));

    let threads = if rng.chance(30) { 3 } else { 1 };
    let seeds: Vec<u64> = (0..threads).map(|_| rng.next()).collect();
    std::thread::scope(|scope| {
        for &seed in &seeds {
            let player = &player;
            scope.spawn(move || {
                let mut player = player(seed);
                player.play(60);
                player.settle();
            });
        }
    });
    first.settle();
    let owned = std::mem::take(&mut first.pools().owned);
    for &(_, h) in owned.iter().filter(|o| o.0 == Kind::Queue) {
        clFinish(std::ptr::with_exposed_provenance_mut(h));
    }
    owned.into_iter().for_each(|(kind, h)| release(kind, h));
    // Commands release their objects a moment after their events are complete.
    let start = Instant::now();
    while cloomLiveObjects() > 0 {
        if start.elapsed() > Duration::from_secs(200) {
            return Err(format!("{} objects are left after all was released", cloomLiveObjects()));
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let launches = first.pools().launches;
    Ok(Reach::of(launches > 0))
}
