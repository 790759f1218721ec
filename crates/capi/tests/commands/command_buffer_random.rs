//! Random command buffers compute what the same commands compute when they are enqueued one by one.

#![allow(unsafe_code, reason = "it calls the C interface")]

#[path = "../common/mod.rs"]
mod common;
use common::extension::*;
use common::*;

const WORDS: usize = 256;
const BUFFERS: usize = 3;

/// A generator of numbers below a bound.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Fill {
        buffer: usize,
        value: u32,
        at: usize,
        words: usize,
    },
    Copy {
        source: usize,
        target: usize,
        from: usize,
        to: usize,
        words: usize,
    },
    /// Of rows of 16 words.
    Rect {
        source: usize,
        target: usize,
        from: [usize; 2],
        to: [usize; 2],
        region: [usize; 2],
    },
    Launch {
        target: usize,
        source: usize,
        value: u32,
        offset: usize,
        items: usize,
    },
    Barrier,
}

fn step(random: &mut Random) -> Step {
    let buffer = random.below(BUFFERS);
    let other = (buffer + 1 + random.below(BUFFERS - 1)) % BUFFERS;
    let words = 1 + random.below(WORDS - 1);
    let mut at = || random.below(WORDS - words + 1);
    match (at(), at(), random.below(8)) {
        (at, _, 0 | 1) => Step::Fill { buffer, value: random.below(1 << 20) as u32, at, words },
        (from, to, 2) => Step::Copy { source: other, target: buffer, from, to, words },
        (_, _, 3) => {
            let region = [1 + random.below(15), 1 + random.below(15)];
            let mut place = || [random.below(16 - region[0]), random.below(16 - region[1])];
            Step::Rect { source: other, target: buffer, from: place(), to: place(), region }
        }
        (_, _, 4) => Step::Barrier,
        (offset, ..) => {
            Step::Launch { target: buffer, source: other, value: random.below(100) as u32, offset, items: words }
        }
    }
}

/// Words to bytes, of an origin or a region of rows.
fn place([x, y]: [usize; 2]) -> [usize; 3] {
    [4 * x, y, 0]
}

/// Enqueues a step.
fn enqueue(t: &Session, kernel: &Obj, b: &[Obj], step: Step) {
    let (q, none) = (t.queue(), null_mut());
    match step {
        Step::Fill { buffer, value, at, words } => {
            let pattern = (&raw const value).cast();
            ok(t.clEnqueueFillBuffer(q, b[buffer].h, pattern, 4, 4 * at, 4 * words, 0, null(), none));
        }
        Step::Copy { source, target, from, to, words } => {
            let (source, target) = (b[source].h, b[target].h);
            ok(t.clEnqueueCopyBuffer(q, source, target, 4 * from, 4 * to, 4 * words, 0, null(), none));
        }
        Step::Rect { source, target, from, to, region } => {
            let (from, to, region) = (place(from), place(to), [4 * region[0], region[1], 1]);
            let (from, to, region) = (from.as_ptr(), to.as_ptr(), region.as_ptr());
            let (source, target) = (b[source].h, b[target].h);
            ok(t.clEnqueueCopyBufferRect(q, source, target, from, to, region, 64, 0, 64, 0, 0, null(), none));
        }
        Step::Launch { target, source, value, offset, items } => {
            set(t, kernel, b, (target, source, value));
            ok(t.clEnqueueNDRangeKernel(q, kernel.h, 1, &offset, &items, null(), 0, null(), none));
        }
        Step::Barrier => ok(t.clEnqueueBarrier(q)),
    }
}

fn set(t: &Session, kernel: &Obj, b: &[Obj], (target, source, value): (usize, usize, u32)) {
    t.arg_mem(kernel, 0, &b[target]);
    t.arg_mem(kernel, 1, &b[source]);
    t.arg(kernel, 2, value);
}

/// Records a step after some sync-points. Returns the handle of a launch.
fn record(
    (t, x, to): (&Session, &CommandBuffers, &Buffer<'_>),
    kernel: &Obj,
    b: &[Obj],
    step: Step,
    wait: &[u32],
) -> Handle {
    let (q, no, none) = (null_mut(), null(), null_mut());
    let (n, wait) = (wait.len() as u32, if wait.is_empty() { null() } else { wait.as_ptr() });
    let mut point = 0;
    let mut command = null_mut();
    match step {
        Step::Fill { buffer, mut value, at, words } => {
            let (m, pattern, at, size) = (b[buffer].h, (&raw mut value).cast(), 4 * at, 4 * words);
            ok(x.clCommandFillBufferKHR(to.h, q, no, m, pattern, 4, at, size, n, wait, &mut point, none));
        }
        Step::Copy { source, target, from, to: at, words } => {
            let (s, d, from, at, size) = (b[source].h, b[target].h, 4 * from, 4 * at, 4 * words);
            ok(x.clCommandCopyBufferKHR(to.h, q, no, s, d, from, at, size, n, wait, &mut point, none));
        }
        Step::Rect { source, target, from, to: at, region } => {
            let (from, at, region) = (place(from), place(at), [4 * region[0], region[1], 1]);
            let (from, at, region) = (from.as_ptr(), at.as_ptr(), region.as_ptr());
            let (s, d) = (b[source].h, b[target].h);
            ok(x.clCommandCopyBufferRectKHR(
                to.h, q, no, s, d, from, at, region, 64, 0, 64, 0, n, wait, &mut point, none,
            ));
        }
        Step::Launch { target, source, value, offset, items } => {
            set(t, kernel, b, (target, source, value));
            let (k, place) = (kernel.h, &raw mut command);
            ok(x.clCommandNDRangeKernelKHR(to.h, q, no, k, 1, &offset, &items, null(), n, wait, &mut point, place));
        }
        Step::Barrier => {
            ok(x.clCommandBarrierWithWaitListKHR(to.h, q, no, n, wait, &mut point, none));
        }
    }
    assert!(point > 0);
    command
}

#[test]
fn random_command_buffers_do_what_separate_commands_do() {
    let t = Session::new();
    let x = CommandBuffers::new(&t);
    let kernel = t.kernel(
        "kernel void k(global uint *p, global const uint *q, uint v)
        { size_t i = get_global_id(0); p[i] = p[i] * 31 + q[i] + v; }",
    );
    let start = |i: usize| t.buffer_of(&(0..WORDS as u32).map(|w| w * 7 + i as u32).collect::<Vec<_>>());
    for seed in 0..60 {
        let mut random = Random(seed);
        let mut steps: Vec<Step> = (0..1 + random.below(40)).map(|_| step(&mut random)).collect();
        let (direct, recorded): (Vec<Obj>, Vec<Obj>) = (0..BUFFERS).map(|i| (start(i), start(i))).unzip();
        // The commands depend on each other by the order of the queue, or all by sync-points.
        let out_of_order = random.below(2) == 1;
        let queue = t.another_queue(if out_of_order { CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE } else { 0 });
        let b = x.buffer(queue.h, MUTABLE);
        let mut handles = Vec::new();
        for (i, &step) in steps.iter().enumerate() {
            let wait: &[u32] = if out_of_order && i > 0 { &[i as u32] } else { &[] };
            handles.push(record((&t, &x, &b), &kernel, &recorded, step, wait));
        }
        b.finalize();
        for round in 0..4 {
            // Before some runs, some launches get another value, range or target.
            for (step, &handle) in steps.iter_mut().zip(&handles) {
                let Step::Launch { target, source, value, offset, items } = step else { continue };
                if round == 0 || random.below(3) > 0 {
                    continue;
                }
                *value = random.below(100) as u32;
                (*target, *source) = (*source, *target);
                *items = 1 + random.below(WORDS - 1);
                *offset = random.below(WORDS - *items + 1);
                let args = [arg(0, &recorded[*target].h), arg(1, &recorded[*source].h), arg(2, value)];
                ok(b.update(&[Config { offset, global: items, ..Config::of(handle).args(&args) }]));
            }
            steps.iter().for_each(|&step| enqueue(&t, &kernel, &direct, step));
            t.finish();
            ok(x.clEnqueueCommandBufferKHR(0, null(), b.h, 0, null(), null_mut()));
            ok(t.clFinish(queue.h));
            for (i, (one, other)) in direct.iter().zip(&recorded).enumerate() {
                let (one, other) = (t.read::<u32>(one, WORDS), t.read::<u32>(other, WORDS));
                assert_eq!(one, other, "seed {seed}, round {round}, buffer {i}: {steps:?}");
            }
        }
    }
}
