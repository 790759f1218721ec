//! Deferred launches, and graphs that submit many launches by one call.
//!
//! Submitting a small launch takes the driver longer than the GPU takes to run it. A *graph* is a sequence of kernels
//! that is made once. Each of its nodes is then set to a launch, and one call submits them all, in a third of the time
//! of single launches. A node that already has the same launch is not set again. That saves half of the remaining time,
//! because programs repeat themselves. Only the completion of the whole graph can be observed.
//!
//! A graph may end with a write of the timeline value. A blocking launch is submitted as a graph of one kernel and this
//! write: the GPU fetches both at once, and the host reads the value after 6.7 us, instead of 9.1 for a launch and a
//! separate write (H100; `driver_costs` of `gpu-tests`).
//!
//! A function is launched by itself, on the same stream, before it becomes a kernel of a graph ([`Launched`]), and it
//! stays loaded as long as a node is set to it. Without either rule, the GPU ran what had been in the code's memory
//! before: an illegal instruction or, worse, another function (driver 580). The node of a blocking launch is only ever
//! set to one function.

use crate::context::{Current, Gpu};
use crate::error::Failure;
use crate::library::{
    GraphCalls, KernelNode, RawContext, RawGraph, RawGraphExec, RawGraphNode, RawStream, WordsNode, WriteValue,
};
use crate::module::Handle;
use cloom_cuda_abi::constants::STREAM_MEM_OP_WRITE_VALUE_64;
use cloom_hal_gpu::grids::{Descriptor, Grid};
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::sync::Arc;

/// Kernels of a graph, which is the number of launches in a batch. (Submitting a graph of 32 takes the driver a third
/// of the time of 32 launches.)
pub const BATCH: usize = 32;

/// One grid with its arguments.
pub struct GridLaunch<'a> {
    /// What runs.
    pub function: &'a Handle,
    /// Its groups.
    pub grid: &'a Grid,
    /// Bytes of local memory beside those that the function declares.
    pub local_size: u32,
    /// The first argument.
    pub descriptor: &'a Descriptor,
    /// The argument block, in which the artifact says where each argument lies.
    pub args: &'a [u8],
}

impl GridLaunch<'_> {
    /// The addresses of the arguments.
    fn parameters(&self) -> SmallVec<[*const c_void; 16]> {
        // Only the handle's own artifact describes the parameters of the function: a deferred launch may outlive the
        // kernel.
        let args = self.function.artifact().args.iter().map(|arg| self.args[arg.offset as usize..].as_ptr().cast());
        std::iter::once((&raw const *self.descriptor).cast()).chain(args).collect()
    }

    /// Puts it on a stream.
    pub fn launch(&self, current: &Current<'_>, stream: RawStream) -> Result<(), Failure> {
        let parameters = self.parameters();
        let ([gx, gy, gz], [lx, ly, lz], none) = (self.grid.groups, self.grid.local, std::ptr::null_mut());
        // SAFETY: the function's parameters are those of the artifact, as far as the driver tells (`check_parameters`);
        // `check` found that each lies in the argument block. The driver copies them before it returns. The program is
        // responsible for the memory that they point to, which the caller keeps until the launch ends.
        let code = unsafe {
            let (launch, parameters) = (current.table().launch_kernel, parameters.as_ptr());
            launch(self.function.raw, gx, gy, gz, lx, ly, lz, self.local_size, stream, parameters, none)
        };
        current.check("cuLaunchKernel", code)
    }

    /// Calls a function with what a node of a graph needs to know.
    fn as_node<R>(&self, call: impl FnOnce(&KernelNode) -> R) -> R {
        let parameters = self.parameters();
        let (extra, kernel, context) = (std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        call(&KernelNode {
            function: self.function.raw,
            groups: self.grid.groups,
            local: self.grid.local,
            local_size: self.local_size,
            parameters: parameters.as_ptr(),
            extra,
            kernel,
            context,
        })
    }
}

/// The last functions that were launched on a stream by themselves.
#[derive(Default)]
pub struct Launched(VecDeque<u64>);

/// Functions that are remembered at most: more than most programs have.
const MAX_LAUNCHED_FUNCTIONS: usize = 64;

impl Launched {
    /// Notes a function.
    pub fn add(&mut self, function: &Handle) {
        // The oldest function is forgotten: its next launch is then submitted by itself, which only takes longer.
        if !self.has(function) {
            self.0.truncate(MAX_LAUNCHED_FUNCTIONS - 1);
            self.0.push_front(function.number());
        }
    }

    /// Whether a function is one of them.
    pub fn has(&self, function: &Handle) -> bool {
        self.0.contains(&function.number())
    }
}

/// A deferred launch: all that submitting it needs.
#[derive(Clone, PartialEq, Eq)]
pub struct Call {
    /// What runs.
    pub function: Handle,
    /// Its groups.
    pub grid: Grid,
    /// Bytes of local memory.
    pub local_size: u32,
    /// The first argument.
    pub descriptor: Descriptor,
    /// The argument block.
    pub args: SmallVec<[u8; 64]>,
}

impl Call {
    /// The grid, to submit it.
    pub fn grid(&self) -> GridLaunch<'_> {
        let Call { ref function, ref grid, local_size, ref descriptor, ref args } = *self;
        GridLaunch { function, grid, local_size, descriptor, args }
    }
}

/// The node of a graph's last step, which writes the timeline value.
struct ValueNode {
    node: RawGraphNode,
    context: RawContext,
    address: u64,
}

impl ValueNode {
    /// Calls a function with what the node needs to know.
    fn as_node<R>(&self, value: u64, call: impl FnOnce(&WordsNode) -> R) -> R {
        let word = WriteValue {
            operation: STREAM_MEM_OP_WRITE_VALUE_64,
            address: self.address,
            value,
            flags: 0,
            reserved: [0; 2],
        };
        call(&WordsNode { context: self.context, count: 1, words: &raw const word, flags: 0 })
    }
}

/// A kernel of a graph.
struct Node {
    raw: RawGraphNode,
    /// The launch that it is set to, if that is known.
    set: Option<Call>,
    /// The function that it is set to, which this handle keeps loaded.
    function: Handle,
}

/// A graph that was made.
pub struct Graph {
    gpu: Arc<Gpu>,
    calls: GraphCalls,
    graph: RawGraph,
    exec: RawGraphExec,
    nodes: Vec<Node>,
    /// The function that all nodes were made with.
    first: Handle,
    value: Option<ValueNode>,
}

impl Graph {
    /// A graph of this many kernels, all of which are `first` until they are set, for launches in this context. With
    /// `value_at`, it ends with a write of the timeline value to that address, which must outlive the graph's launches.
    /// `None` if the driver makes no graph.
    pub fn new(
        gpu: &Arc<Gpu>,
        current: &Current<'_>,
        first: &GridLaunch<'_>,
        kernels: usize,
        value_at: Option<u64>,
    ) -> Option<Graph> {
        let calls = current.table().graphs?;
        let (mut graph, exec) = (RawGraph::NULL, RawGraphExec::NULL);
        // SAFETY: it writes a handle.
        current.check("cuGraphCreate", unsafe { (calls.create)(&mut graph, 0) }).ok()?;
        let (gpu, function) = (gpu.clone(), first.function.clone());
        // Made before the nodes, so that returning early destroys the graph.
        let mut made = Graph { gpu, calls, graph, exec, nodes: Vec::new(), first: function, value: None };
        for _ in 0..kernels {
            let raw = made.add(|node, before, count| {
                let add = calls.add_kernel;
                // SAFETY: it writes a handle, and reads one node at most and the parameters, as a launch does.
                let code = first.as_node(|new| unsafe { add(node, graph, before, count, new) });
                current.check("cuGraphAddKernelNode", code)
            })?;
            made.nodes.push(Node { raw, set: None, function: made.first.clone() });
        }
        if let Some(address) = value_at {
            let mut value = ValueNode { node: RawGraphNode::NULL, context: made.gpu.context().ok()?, address };
            value.node = made.add(|node, before, count| {
                let add = calls.add_words;
                // SAFETY: it writes a handle, and reads one node at most. The caller keeps the value itself.
                let code = value.as_node(0, |new| unsafe { add(node, graph, before, count, new) });
                current.check("cuGraphAddBatchMemOpNode", code)
            })?;
            made.value = Some(value);
        }
        // SAFETY: it writes a handle; the graph lives.
        let code = unsafe { (made.calls.instantiate)(&mut made.exec, made.graph, 0) };
        current.check("cuGraphInstantiateWithFlags", code).ok()?;
        Some(made)
    }

    /// Adds a node after the last kernel. `add` gets the address for the new handle, and the nodes that the new one
    /// follows.
    fn add(
        &self,
        add: impl FnOnce(*mut RawGraphNode, *const RawGraphNode, usize) -> Result<(), Failure>,
    ) -> Option<RawGraphNode> {
        let (mut node, before) = (RawGraphNode::NULL, self.nodes.last());
        // Each node follows the one before it, so that the kernels run in the order of the stream.
        add(&mut node, before.map_or(std::ptr::null(), |before| &raw const before.raw), before.is_some().into())
            .ok()?;
        Some(node)
    }

    /// Submits launches to a stream, one for each kernel, and then the write of the timeline value. Returns false if
    /// that fails; then no launch was submitted.
    pub fn launch(&mut self, current: &Current<'_>, stream: RawStream, launches: &[Call], value: u64) -> bool {
        debug_assert_eq!(launches.len(), self.nodes.len());
        let launched = self.set_nodes(current, launches, value).and_then(|()| {
            // SAFETY: graph and stream live.
            current.check("cuGraphLaunch", unsafe { (self.calls.launch)(self.exec, stream) })
        });
        if launched.is_err() {
            // A node may have got its new launch or not: the next call sets all of them again.
            self.nodes.iter_mut().for_each(|node| node.set = None);
            return false;
        }
        for (node, launch) in self.nodes.iter_mut().zip(launches) {
            // Only nodes that were set now are `None`, so that an unchanged launch is not copied.
            node.set.get_or_insert_with(|| launch.clone());
        }
        true
    }

    /// Sets the nodes whose launch differs from the one they have. Their `set` is `None` until the graph is launched,
    /// since a call that fails leaves a node in an unknown state.
    fn set_nodes(&mut self, current: &Current<'_>, launches: &[Call], value: u64) -> Result<(), Failure> {
        for (node, launch) in self.nodes.iter_mut().zip(launches) {
            if node.set.as_ref() == Some(launch) {
                continue;
            }
            node.set = None;
            // SAFETY: the node is of the graph. The parameters are as for a launch, and copied. What was submitted
            // before does not change.
            let code = launch.grid().as_node(|new| unsafe { (self.calls.set_kernel)(self.exec, node.raw, new) });
            current.check("cuGraphExecKernelNodeSetParams", code)?;
            // The old function may be unloaded from here on: the node refers to the new one.
            node.function.clone_from(&launch.function);
        }
        // The value is another one in each launch, so that its node is always set.
        let Some(node) = &self.value else { return Ok(()) };
        // SAFETY: the node is of the graph, and `new` describes one word, which lives through the call and is copied.
        let code = node.as_node(value, |new| unsafe { (self.calls.set_words)(self.exec, node.node, new) });
        current.check("cuGraphExecBatchMemOpNodeSetParams", code)
    }
}

impl Drop for Graph {
    /// Launches that were submitted still run to their end.
    fn drop(&mut self) {
        if self.exec != RawGraphExec::NULL {
            // SAFETY: made by `new`, and nobody uses it any more.
            self.gpu.release("cuGraphExecDestroy", |_| unsafe { (self.calls.destroy_exec)(self.exec) });
        }
        // SAFETY: made by `new`, and nobody uses it any more. The executable graph is independent of it, and gone.
        self.gpu.release("cuGraphDestroy", |_| unsafe { (self.calls.destroy)(self.graph) });
    }
}
