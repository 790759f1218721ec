//! What the calls of NVIDIA's driver cost on this machine, beside each other: ways to launch, to learn of an end, and
//! to launch many at once. The figures decide how launches are submitted. Needs a GPU; without one it says so.
//!
//! `cargo run --release --package cloom-gpu-tests --bin driver_costs`

#![allow(clippy::print_stdout, reason = "a program that prints")]
#![allow(unsafe_code, reason = "it calls the driver")]

use cloom_cuda_abi::constants::{
    EVENT_BLOCKING_SYNC, EVENT_DISABLE_TIMING, MEMHOSTALLOC_PORTABLE, STREAM_MEM_OP_WRITE_VALUE_32, STREAM_NON_BLOCKING,
};
use cloom_cuda_abi::*;
use libloading::os::unix::{Library, RTLD_LOCAL, RTLD_NOW};
use std::cell::Cell;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::ptr::{null, null_mut};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

/// Declares a table of functions. Those that are optional are not measured.
macro_rules! table {
    (
        struct $table:ident;
        $($name:ident = $symbol:ident ($($arg:ty),*);)*
        $(@optional $($maybe:ident = $maybe_symbol:ident ($($maybe_arg:ty),*);)*)?
    ) => {
        #[allow(dead_code, reason = "not all of them are measured")]
        struct $table { $($name: unsafe extern "C" fn($($arg),*) -> Code,)* }

        impl $table {
            fn look_up(library: &Library) -> Result<$table, libloading::Error> {
                // SAFETY: the signatures are those of the driver's header, and the library stays.
                unsafe { Ok($table { $($name: *library.get(concat!(stringify!($symbol), "\0").as_bytes())?,)* }) }
            }
        }
    };
}

cloom_cuda_abi::functions!(table struct Functions;);
cloom_cuda_abi::graph_functions!(table struct Graphs;);
cloom_cuda_abi::measured_functions!(table struct Measured;);

/// The functions of the driver.
struct Driver {
    functions: Functions,
    graphs: Graphs,
    /// Those that Cloom does not call.
    measured: Measured,
}

impl Driver {
    fn load() -> Result<Driver, libloading::Error> {
        // SAFETY: the library's initialisers are the driver's own.
        let library = unsafe { Library::open(Some("libcuda.so.1"), RTLD_NOW | RTLD_LOCAL) }?;
        let functions = Functions::look_up(&library)?;
        let driver = Driver { functions, graphs: Graphs::look_up(&library)?, measured: Measured::look_up(&library)? };
        // The functions of the tables lie in the library, which must not be unloaded.
        std::mem::forget(library);
        Ok(driver)
    }
}

/// A kernel that does nothing, with as many parameters as most have.
const PTX: &[u8] = b".version 7.8
.target sm_70
.address_size 64
.visible .entry empty(.param .align 8 .b8 a[152], .param .u64 b, .param .u64 c) { ret; }
\0";

fn check(what: &str, code: Code) {
    assert_eq!(code, 0, "{what}");
}

/// The median of so many runs of something that is done `times` times, in microseconds each.
fn measure(name: &str, times: usize, work: impl FnMut()) {
    measure_but(name, times, work, || ());
}

/// The same, with something after each run that does not count.
fn measure_but(name: &str, times: usize, mut work: impl FnMut(), mut after: impl FnMut()) {
    let mut all: Vec<f64> = (0..30)
        .map(|_| {
            let begin = Instant::now();
            work();
            let time = begin.elapsed().as_secs_f64() * 1e6 / times as f64;
            after();
            time
        })
        .collect();
    all.sort_by(f64::total_cmp);
    // The median of 30 runs, and the range without the three lowest and the three highest.
    println!("{name:<64} {:8.2} us  [{:.2} to {:.2}]", all[15], all[3], all[26]);
}

/// A stream with a kernel, and ways to learn of ends.
struct Bench {
    driver: Driver,
    function: RawFunction,
    stream: RawStream,
    event: RawEvent,
    /// One on which a thread can sleep.
    sleeper: RawEvent,
    /// Others, which are recorded in turn.
    events: Vec<RawEvent>,
    word: *mut c_void,
    /// The number that the word has next.
    number: Cell<u32>,
}

/// The values of the parameters.
static VALUES: ([u64; 19], u64, u64) = ([0; 19], 1, 2);

fn params() -> [*const c_void; 3] {
    [VALUES.0.as_ptr().cast(), (&raw const VALUES.1).cast(), (&raw const VALUES.2).cast()]
}

impl Bench {
    fn new(driver: Driver) -> Bench {
        let (mut device, mut context, mut module, mut word) = (0, RawContext::NULL, RawModule::NULL, null_mut());
        let (mut function, mut stream) = (RawFunction::NULL, RawStream::NULL);
        let (mut event, mut sleeper, mut events) = (RawEvent::NULL, RawEvent::NULL, vec![RawEvent::NULL; 64]);
        let Driver { functions, .. } = &driver;
        let (text, no_options, no_values) = (PTX.as_ptr().cast(), null_mut(), null_mut());
        let (polled, slept_on) = (EVENT_DISABLE_TIMING, EVENT_BLOCKING_SYNC | EVENT_DISABLE_TIMING);
        // SAFETY: the calls follow the order of the driver's documentation, each handle was given by the call before
        // it, and all pointers are those of local variables or of static text.
        unsafe {
            check("init", (functions.init)(0));
            check("device", (functions.device_get)(&mut device, 0));
            check("context", (functions.primary_retain)(&mut context, device));
            check("current", (functions.ctx_set_current)(context));
            check("module", (functions.module_load_data)(&mut module, text, 0, no_options, no_values));
            check("function", (functions.module_get_function)(&mut function, module, c"empty".as_ptr()));
            check("stream", (functions.stream_create)(&mut stream, STREAM_NON_BLOCKING));
            check("event", (functions.event_create)(&mut event, polled));
            check("event", (functions.event_create)(&mut sleeper, slept_on));
            events.iter_mut().for_each(|event| check("event", (functions.event_create)(event, polled)));
            check("word", (functions.mem_host_alloc)(&mut word, 4096, MEMHOSTALLOC_PORTABLE));
        }
        Bench { driver, function, stream, event, sleeper, events, word, number: Cell::new(0) }
    }

    fn launch(&self) {
        let (params, none) = (params(), null_mut());
        // SAFETY: function and stream were made by `new`, and `params` has an address for each parameter of the kernel.
        let code = unsafe {
            (self.driver.functions.launch_kernel)(
                self.function,
                1,
                1,
                1,
                1,
                1,
                1,
                0,
                self.stream,
                params.as_ptr(),
                none,
            )
        };
        check("launch", code);
    }

    fn synchronize(&self) {
        // SAFETY: the stream was made by `new` and is never destroyed.
        check("synchronize", unsafe { (self.driver.functions.stream_synchronize)(self.stream) });
    }

    fn record(&self, event: RawEvent) {
        // SAFETY: event and stream were made by `new` and are never destroyed.
        check("record", unsafe { (self.driver.functions.event_record)(event, self.stream) });
    }

    fn has_come(&self, event: RawEvent) -> bool {
        // SAFETY: the event was made by `new` and is never destroyed.
        unsafe { (self.driver.functions.event_query)(event) == 0 }
    }

    /// Lets the stream write the next number into the word.
    fn write(&self) -> u32 {
        // Each number is a new one, so that the host cannot take an earlier write for the one that it waits for.
        let number = self.number.get() + 1;
        self.number.set(number);
        // SAFETY: the stream was made by `new`, and the word lies in a block that is never freed.
        check("write", unsafe {
            (self.driver.measured.stream_write_value_32)(self.stream, self.word as u64, number, 0)
        });
        number
    }

    /// One launch, and ways to wait for its end.
    fn ends(&self) {
        measure("launch and cuStreamSynchronize", 1, || {
            self.launch();
            self.synchronize();
        });
        measure("launch, and cuStreamQuery until it is idle", 1, || {
            self.launch();
            // SAFETY: the stream was made by `new` and is never destroyed.
            while unsafe { (self.driver.measured.stream_query)(self.stream) } != 0 {}
        });
        for (what, event) in [("event", self.event), ("event to sleep on", self.sleeper)] {
            measure(&format!("launch, {what}, and cuEventQuery until it has come"), 1, || {
                self.launch();
                self.record(event);
                while !self.has_come(event) {}
            });
        }
        // SAFETY: the block has a word, which the GPU writes, too.
        let word = unsafe { AtomicU32::from_ptr(self.word.cast()) };
        measure("launch, a word that the stream writes, and the host reads", 1, || {
            self.launch();
            let number = self.write();
            while word.load(Ordering::Acquire) != number {
                std::hint::spin_loop();
            }
        });
    }

    /// One launch as a graph that ends with the word.
    fn ends_of_graphs(&self) {
        let params = params();
        let node = self.node(&params);
        let (mut context, mut graph, mut exec) = (RawContext::NULL, RawGraph::NULL, RawGraphExec::NULL);
        let (mut kernel, mut words) = (RawGraphNode::NULL, RawGraphNode::NULL);
        // SAFETY: all pointers are those of local variables, the graph was made one call before, and `node` has an
        // address for each parameter.
        unsafe {
            check("current", (self.driver.functions.ctx_get_current)(&mut context));
            check("graph", (self.driver.graphs.create)(&mut graph, 0));
            check("node", (self.driver.graphs.add_kernel)(&mut kernel, graph, null(), 0, &node));
        }
        let of = |value: u64, call: &mut dyn FnMut(&WordsNode) -> Code| {
            let word = WriteValue {
                operation: STREAM_MEM_OP_WRITE_VALUE_32,
                address: self.word as u64,
                value,
                flags: 0,
                reserved: [0; 2],
            };
            check("word", call(&WordsNode { context, count: 1, words: &raw const word, flags: 0 }));
        };
        // SAFETY: graph and kernel node were made above, and `word` points to live descriptions.
        of(0, &mut |word| unsafe { (self.driver.graphs.add_words)(&mut words, graph, &raw const kernel, 1, word) });
        // SAFETY: the graph was made above, and `exec` is a local variable.
        check("instantiate", unsafe { (self.driver.graphs.instantiate)(&mut exec, graph, 0) });
        // SAFETY: the block has a word, which the GPU writes, too.
        let word = unsafe { AtomicU32::from_ptr(self.word.cast()) };
        measure("a graph of a launch and a word, which the host reads", 1, || {
            let number = self.number.get() + 1;
            self.number.set(number);
            // SAFETY: `exec` and its node `words` were made above, and `word` points to live descriptions.
            of(number.into(), &mut |word| unsafe { (self.driver.graphs.set_words)(exec, words, word) });
            // SAFETY: `exec` was made above, and the stream by `new`.
            check("graph launch", unsafe { (self.driver.graphs.launch)(exec, self.stream) });
            while word.load(Ordering::Acquire) != number {
                std::hint::spin_loop();
            }
        });
    }

    /// A kernel of a graph.
    fn node(&self, params: &[*const c_void; 3]) -> KernelNode {
        KernelNode {
            function: self.function,
            groups: [1; 3],
            local: [1; 3],
            local_size: 0,
            parameters: params.as_ptr(),
            extra: null_mut(),
            kernel: null_mut(),
            context: null_mut(),
        }
    }

    /// Calls by themselves, on an idle stream.
    fn calls(&self) {
        let many = |name, each: &dyn Fn()| {
            measure_but(name, 500, || (0..500).for_each(|_| each()), || self.synchronize());
        };
        many("cuCtxGetCurrent", &|| {
            let mut context = RawContext::NULL;
            // SAFETY: `context` is a local variable.
            check("current", unsafe { (self.driver.functions.ctx_get_current)(&mut context) });
        });
        many("cuEventRecord", &|| self.record(self.event));
        many("cuEventRecord of an event to sleep on", &|| self.record(self.sleeper));
        many("cuEventQuery of an event that has come", &|| assert!(self.has_come(self.event)));
        many("cuStreamWriteValue32", &|| _ = self.write());
        many("cuLaunchKernel, 500 of them, without the wait", &|| self.launch());
    }

    /// Many launches.
    fn queued(&self) {
        let many = |name, each: &dyn Fn()| {
            measure(name, 1000, || {
                (0..1000).for_each(|_| each());
                self.synchronize();
            });
        };
        many("1000 launches, each, and one end", &|| self.launch());
        many("1000 launches with an event, each, and one end", &|| {
            self.launch();
            self.record(self.event);
        });
        let turn = Cell::new(0);
        many("1000 launches with one of 64 events, each, and one end", &|| {
            self.launch();
            turn.set((turn.get() + 1) % self.events.len());
            self.record(self.events[turn.get()]);
        });
        many("1000 launches with an event to sleep on, each, and one end", &|| {
            self.launch();
            self.record(self.sleeper);
        });
        measure("1000 launches, and a word after the last, which the host reads", 1000, || {
            (0..1000).for_each(|_| self.launch());
            let number = self.write();
            // SAFETY: the block has a word, which the GPU writes, too.
            let word = unsafe { AtomicU32::from_ptr(self.word.cast()) };
            while word.load(Ordering::Acquire) != number {
                std::hint::spin_loop();
            }
        });
        many("1000 launches with a word, each, and one end", &|| {
            self.launch();
            self.write();
        });
    }

    /// Many launches as one graph.
    fn graphs(&self) {
        let params = params();
        let node = self.node(&params);
        let build = || {
            let (mut graph, mut nodes): (_, Vec<RawGraphNode>) = (RawGraph::NULL, Vec::new());
            // SAFETY: `graph` is a local variable.
            check("graph", unsafe { (self.driver.graphs.create)(&mut graph, 0) });
            for i in 0..NODES {
                let before = if i == 0 { null() } else { &raw const nodes[i - 1] };
                let mut added = RawGraphNode::NULL;
                // SAFETY: the graph was made above, `before` points to as many nodes as the call says, and `node` has
                // an address for each parameter.
                let code =
                    unsafe { (self.driver.graphs.add_kernel)(&mut added, graph, before, usize::from(i > 0), &node) };
                check("node", code);
                nodes.push(added);
            }
            (graph, nodes)
        };
        let instantiate = |graph: RawGraph| {
            let mut exec = RawGraphExec::NULL;
            // SAFETY: callers give a graph that `build` made, and `exec` is a local variable.
            check("instantiate", unsafe { (self.driver.graphs.instantiate)(&mut exec, graph, 0) });
            exec
        };
        measure("a graph of 64 kernels: made, each kernel", NODES, || {
            build();
        });
        let (graph, nodes) = build();
        measure("the same: instantiated, each kernel", NODES, || {
            instantiate(graph);
        });
        // This one is kept and launched below; those that were measured are not released, as the process ends soon.
        let exec = instantiate(graph);
        // SAFETY: `exec` was made above, and the stream by `new`.
        let replay = || check("graph launch", unsafe { (self.driver.graphs.launch)(exec, self.stream) });
        measure("the same: launched and waited for, each kernel", NODES, || {
            replay();
            self.synchronize();
        });
        measure("the same: launched 16 times and waited for, each kernel", NODES * 16, || {
            (0..16).for_each(|_| replay());
            self.synchronize();
        });
        let set = |each: RawGraphNode| {
            // SAFETY: `each` is a node of the graph of `exec`, and `node` has an address for each parameter.
            check("set", unsafe { (self.driver.graphs.set_kernel)(exec, each, &node) });
        };
        let enable = |each: RawGraphNode, on: bool| {
            // SAFETY: `each` is a node of the graph of `exec`.
            check("enable", unsafe { (self.driver.measured.graph_node_set_enabled)(exec, each, on.into()) });
        };
        measure("the same: other parameters for all, then launched 16 times, each", NODES * 16, || {
            for _ in 0..16 {
                nodes.iter().for_each(|&each| set(each));
                replay();
            }
            self.synchronize();
        });
        measure("the same: other parameters, each kernel, without a launch", NODES, || {
            nodes.iter().for_each(|&each| set(each));
        });
        let on = Cell::new(true);
        measure("the same: disabled or enabled, each kernel, without a launch", NODES, || {
            on.set(!on.get());
            nodes.iter().for_each(|&each| enable(each, on.get()));
        });
        for count in [32, 8, 1] {
            nodes.iter().enumerate().for_each(|(i, &each)| enable(each, i < count));
            let name = format!("the same, all but {count} disabled: launched 16 times, each that runs");
            measure(&name, count * 16, || {
                (0..16).for_each(|_| replay());
                self.synchronize();
            });
        }
        measure("the same, all but 1 disabled: launched and waited for", 1, || {
            replay();
            self.synchronize();
        });
    }
}

/// Kernels of a graph.
const NODES: usize = 64;

fn main() {
    match Driver::load() {
        Ok(driver) => {
            let bench = Bench::new(driver);
            bench.calls();
            bench.ends();
            bench.ends_of_graphs();
            bench.queued();
            bench.graphs();
        }
        Err(why) => println!("no driver: {why}"),
    }
}
