//! 64 threads that call every family of the interface at the same time: on objects of their own, whose contents they
//! check, and on objects that all share.

use super::mix_families::FAMILIES;
use super::{Progress, Size};
use crate::common::extension::{CommandBuffers, Semaphores, UnifiedMemory};
use crate::common::*;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::time::Instant;

const THREADS: usize = 64;

/// A small generator of numbers, the same on every run.
pub struct Random(u64);

impl Random {
    pub fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// What all threads share.
pub struct Shared<'a> {
    pub t: &'a Session,
    pub command_buffers: CommandBuffers,
    pub semaphores: Semaphores,
    pub unified: UnifiedMemory,
    pub program: Obj,
    /// In order, and out of order.
    pub queues: [Obj; 2],
    /// A counter that launches of all threads increment.
    pub counter: Obj,
    pub counted: AtomicU32,
    /// Memory that anybody reads and writes at any time.
    pub common: Obj,
    /// A buffer of the list is replaced while others use it.
    pub list: Mutex<Vec<std::sync::Arc<Obj>>>,
    /// Native kernels and callbacks that came.
    pub calls: AtomicU64,
    pub expected: AtomicU64,
}

/// What a thread has for itself.
pub struct Own {
    pub random: Random,
    pub number: usize,
    pub queue: Obj,
    pub buffer: Obj,
    /// Kernels, whose arguments only this thread sets.
    pub store: Obj,
    pub count: Obj,
}

const SOURCE: &str = "
    kernel void store(global uint *p, uint x) { p[get_global_id(0)] = x + get_global_id(0); }
    kernel void count(global uint *p) { atomic_inc(p); }
    kernel void mean(read_only image2d_t a, write_only image2d_t b) {
        int2 p = (int2)(get_global_id(0), get_global_id(1));
        write_imageui(b, p, read_imageui(a, p) + 1);
    }";

pub fn run(size: Size) -> String {
    let t = Session::new();
    let shared = Shared {
        command_buffers: CommandBuffers::new(&t),
        semaphores: Semaphores::new(&t),
        unified: UnifiedMemory::new(&t),
        program: t.program(SOURCE),
        queues: [t.another_queue(0), t.another_queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)],
        counter: t.buffer_of(&[0u32]),
        counted: AtomicU32::new(0),
        common: t.buffer(0, 4096),
        list: Mutex::new((0..4).map(|_| std::sync::Arc::new(t.buffer(0, 256))).collect()),
        calls: AtomicU64::new(0),
        expected: AtomicU64::new(0),
        t: &t,
    };
    let end = Instant::now() + size.time;
    let done: Vec<AtomicU64> = FAMILIES.iter().map(|_| AtomicU64::new(0)).collect();
    std::thread::scope(|s| {
        for number in 0..THREADS {
            let (shared, done) = (&shared, &done);
            s.spawn(move || {
                let random = Random(number as u64 + 1);
                let queue = t_queue(shared.t, number);
                let (store, count) =
                    (shared.t.kernel_of(&shared.program, "store"), shared.t.kernel_of(&shared.program, "count"));
                let mut own = Own { random, number, queue, buffer: shared.t.buffer(0, 4096), store, count };
                while Instant::now() < end {
                    let family = own.random.below(FAMILIES.len());
                    FAMILIES[family].1(shared, &mut own);
                    done[family].fetch_add(1, Ordering::Relaxed);
                }
                ok(shared.t.clFinish(own.queue.h));
            });
        }
        let mut progress = Progress::new("seconds of many threads", size.time.as_secs());
        while size.long && Instant::now() < end {
            std::thread::sleep(std::time::Duration::from_millis(500).min(end - Instant::now()));
            progress.at(size.time.as_secs().saturating_sub((end - Instant::now()).as_secs()));
        }
    });
    shared.queues.iter().for_each(|queue| ok(t.clFinish(queue.h)));
    assert_eq!(
        t.read::<u32>(&shared.counter, 1),
        [shared.counted.load(Ordering::Relaxed)],
        "launches on shared queues"
    );
    t.until("all callbacks came", || shared.calls.load(Ordering::Relaxed) == shared.expected.load(Ordering::Relaxed));
    let counts = FAMILIES.iter().zip(&done).map(|((name, _), n)| format!("{name} {}", n.load(Ordering::Relaxed)));
    format!("{THREADS} threads, {} s: {}", size.time.as_secs(), counts.collect::<Vec<_>>().join(", "))
}

fn t_queue(t: &Session, number: usize) -> Obj {
    t.another_queue([0, CL_QUEUE_PROFILING_ENABLE][number % 2])
}
