//! Random graphs of commands against a model: what runs, in which order, and how each command ends.
//!
//! The two devices here do nothing; the commands are functions of the test that write down when they run. What kernels
//! and transfers do with memory on two kinds of device is tested in `devices.rs`.

use cloom_hal as hal;
use cloom_runtime::{Compiler, Context, Engine, Event, Hooks, NativeKernel, Platform, Queue, QueueFlags};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

struct NoDevice(hal::DeviceInfo);

impl hal::Device for NoDevice {
    fn info(&self) -> &hal::DeviceInfo {
        &self.0
    }

    fn allocate(&self, size: u64) -> Result<Arc<dyn hal::Memory>, hal::HalError> {
        Err(hal::HalError::OutOfMemory(size))
    }

    fn load(
        &self,
        _: Arc<cloom_artifact::KernelArtifact>,
        _: Option<Arc<dyn hal::Memory>>,
    ) -> Result<Arc<dyn hal::Kernel>, hal::HalError> {
        Err(hal::HalError::BadCode("there is no device here".into()))
    }

    fn submit(&self, _: &hal::Launch<'_>) -> Result<hal::Completion, hal::HalError> {
        Err(hal::HalError::Device("there is no device here".into()))
    }
}

fn platform() -> Arc<Platform> {
    let info = hal::DeviceInfo {
        name: "none".into(),
        vendor: "none".into(),
        vendor_id: 0,
        uuid: [0; 16],
        target: Default::default(),
        compute_units: 1,
        clock_mhz: 1,
        memory_size: 1 << 30,
        cache_size: 0,
        cache_line: 64,
        vector_bits: 128,
        caps: cloom_caps::DeviceCaps::full().clone(),
        gpu: None,
    };
    let hooks = Hooks {
        print: Box::new(|_| ()),
        enter_float_env: || Box::new(()),
        checker: None,
        bounds_checks: false,
        time_limit: std::time::Duration::MAX,
    };
    let engine = Engine::new(Compiler::new(cloom_compiler::Config::default()), hooks);
    Platform::new(engine, vec![Arc::new(NoDevice(info.clone())), Arc::new(NoDevice(info))])
}

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

/// What a command is, in the model.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Kind {
    Gate,
    Native,
    Marker,
    Barrier,
}

/// A command of the model.
struct Node {
    kind: Kind,
    /// Its queue.
    queue: usize,
    /// Its wait list: numbers of nodes.
    list: Vec<usize>,
    /// What it comes after without failing with it.
    after: Vec<usize>,
    event: Arc<Event>,
    /// When it began and ended, by a counter; 0 if it did not run.
    ran: Arc<Mutex<(usize, usize)>>,
}

const WAIT_FAILED: i32 = -14;

/// Makes a random graph of `size` commands on some queues, opens the gates in random order, and checks the outcome.
fn check(platform: &Arc<Platform>, seed: u64, size: usize) {
    let mut random = Random(seed);
    let context = Context::new(platform.devices(), None, None).unwrap();
    // In order and out of order on each device.
    let queues: Vec<(Arc<Queue>, bool)> = (0..4)
        .map(|i| {
            let flags = if i < 2 { QueueFlags::empty() } else { QueueFlags::OUT_OF_ORDER };
            (Queue::new(&context, &platform.devices()[i % 2], flags, None).unwrap(), i < 2)
        })
        .collect();
    let clock = Arc::new(AtomicUsize::new(1));
    let mut nodes: Vec<Node> = Vec::new();
    for _ in 0..size {
        let queue = random.below(queues.len());
        let kind = match random.below(10) {
            0 | 1 => Kind::Gate,
            2 => Kind::Marker,
            3 => Kind::Barrier,
            _ => Kind::Native,
        };
        let ran = Arc::new(Mutex::new((0, 0)));
        if kind == Kind::Gate {
            let event = Event::user(&context);
            nodes.push(Node { kind, queue: usize::MAX, list: vec![], after: vec![], event, ran });
            continue;
        }
        let list: Vec<usize> =
            if nodes.is_empty() { vec![] } else { (0..random.below(4)).map(|_| random.below(nodes.len())).collect() };
        // What the specification says of order: everything before, or the last barrier, or for a marker or barrier
        // without a list everything before again.
        let mine = || (0..nodes.len()).rev().filter(|&i| nodes[i].queue == queue);
        let all = queues[queue].1 || (matches!(kind, Kind::Marker | Kind::Barrier) && list.is_empty());
        let after: Vec<usize> =
            if all { mine().collect() } else { mine().find(|&i| nodes[i].kind == Kind::Barrier).into_iter().collect() };
        let wait: Vec<Arc<Event>> = list.iter().map(|&i| nodes[i].event.clone()).collect();
        let target = &queues[queue].0;
        let event = match kind {
            Kind::Marker => target.marker(&wait),
            Kind::Barrier => target.barrier(&wait),
            _ => {
                let (ran, clock) = (ran.clone(), clock.clone());
                let pause = random.below(20) == 0;
                let run = Box::new(move |_: &[usize]| {
                    let begin = clock.fetch_add(1, Ordering::SeqCst);
                    if pause {
                        std::thread::sleep(std::time::Duration::from_micros(200));
                    }
                    *ran.lock().unwrap() = (begin, clock.fetch_add(1, Ordering::SeqCst));
                });
                target.native(NativeKernel { buffers: vec![], run }, &wait)
            }
        };
        nodes.push(Node { kind, queue, list, after, event: event.unwrap(), ran });
    }
    // Nothing that depends on a gate has run; then the gates open, some with an error.
    let mut gates: Vec<usize> = (0..size).filter(|&i| nodes[i].kind == Kind::Gate).collect();
    while !gates.is_empty() {
        let gate = gates.swap_remove(random.below(gates.len()));
        let status = if random.below(4) == 0 { -(random.below(50) as i32) - 1 } else { 0 };
        *nodes[gate].ran.lock().unwrap() = (0, clock.fetch_add(1, Ordering::SeqCst));
        nodes[gate].event.set_user_status(status).unwrap();
        // The status that the model works with.
        assert_eq!(nodes[gate].event.status(), status);
    }
    for (queue, _) in &queues {
        queue.finish();
    }
    // When the last of what a command must wait for, by whatever way, had ended.
    let mut ready = vec![0; size];
    for (i, node) in nodes.iter().enumerate() {
        for &j in node.list.iter().chain(&node.after) {
            ready[i] = ready[i].max(ready[j]).max(nodes[j].ran.lock().unwrap().1);
        }
        let what = format!("seed {seed}, command {i}, {:?}", node.kind);
        let status = node.event.status();
        if node.kind == Kind::Gate {
            continue;
        }
        let failed = node.list.iter().any(|&j| nodes[j].event.status() < 0);
        assert_eq!(status, if failed { WAIT_FAILED } else { 0 }, "{what}");
        let (begin, end) = *node.ran.lock().unwrap();
        assert_eq!(begin > 0, !failed && node.kind == Kind::Native, "{what}");
        if begin == 0 {
            continue;
        }
        assert!(ready[i] < begin && begin < end, "{what} began at {begin}, what it waits for ended at {}", ready[i]);
    }
}

#[test]
fn random_graphs_run_in_an_order_that_the_specification_allows() {
    let platform = platform();
    for seed in 0..150 {
        check(&platform, seed, 40);
    }
    check(&platform, 1000, 2000);
}

#[test]
fn what_takes_no_time_is_done_when_it_is_enqueued_unless_something_holds_it_back() {
    let platform = platform();
    let device = platform.devices()[0].clone();
    let context = Context::new(std::slice::from_ref(&device), None, None).unwrap();
    for flags in [QueueFlags::PROFILING, QueueFlags::PROFILING | QueueFlags::OUT_OF_ORDER] {
        let queue = Queue::new(&context, &device, flags, None).unwrap();
        let done = queue.marker(&[]).unwrap();
        assert_eq!(done.status(), 0);
        let times = done.profiling().unwrap();
        assert!(0 < times.queued && times.queued <= times.submit, "{times:?}");
        assert!(times.submit <= times.start && times.start <= times.end, "{times:?}");
        let gate = Event::user(&context);
        let held = queue.marker(std::slice::from_ref(&gate)).unwrap();
        let behind = queue.barrier(&[]).unwrap();
        assert!(held.status() > 0 && behind.status() > 0);
        gate.set_user_status(0).unwrap();
        queue.finish();
        assert_eq!((held.status(), behind.status()), (0, 0));
    }
}

#[test]
fn everything_is_freed_when_the_graph_is_done() {
    let platform = platform();
    let device = platform.devices()[0].clone();
    let context = Context::new(std::slice::from_ref(&device), None, None).unwrap();
    let queue = Queue::new(&context, &device, QueueFlags::empty(), None).unwrap();
    let gate = Event::user(&context);
    let weak: Vec<_> = (0..100).map(|_| Arc::downgrade(&queue.marker(std::slice::from_ref(&gate)).unwrap())).collect();
    let (queue_left, context_left) = (Arc::downgrade(&queue), Arc::downgrade(&context));
    drop((queue, context));
    assert!(weak.iter().all(|w| w.upgrade().is_some()), "commands hold what they need");
    gate.set_user_status(0).unwrap();
    drop(gate);
    let end = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while weak.iter().any(|w| w.upgrade().is_some()) || queue_left.strong_count() + context_left.strong_count() > 0 {
        assert!(std::time::Instant::now() < end, "something holds on to a graph that is done");
        std::thread::yield_now();
    }
}

#[test]
fn callbacks_come_in_the_order_of_the_statuses_and_outside_of_locks() {
    let platform = platform();
    let device = platform.devices()[0].clone();
    let context = Context::new(std::slice::from_ref(&device), None, None).unwrap();
    let queue = Queue::new(&context, &device, QueueFlags::OUT_OF_ORDER, None).unwrap();
    for round in 0..200 {
        let gate = Event::user(&context);
        let event = queue.marker(std::slice::from_ref(&gate)).unwrap();
        let (send, receive) = std::sync::mpsc::channel();
        for at in [0, 1, 2] {
            let (send, inner) = (send.clone(), event.clone());
            let call = Box::new(move |status| {
                // The event may be asked and waited for here.
                assert!(inner.status() <= status);
                send.send(status).unwrap();
            });
            event.on_status(at, call).unwrap();
        }
        if round % 2 == 0 {
            std::thread::yield_now();
        }
        gate.set_user_status(0).unwrap();
        drop(send);
        assert_eq!(receive.iter().collect::<Vec<i32>>(), [2, 1, 0]);
    }
}
