//! Launches that wait in the host's memory, and graphs that submit many of them by one call.
//!
//! A small launch takes the driver longer than the GPU. A *graph* of kernels, one after the other, is made once; then
//! each of its nodes is set to a launch, and all are submitted together, in a third of the time that single launches
//! take. A node that is set to the same launch already stays as it is, which takes half of the rest: programs repeat
//! themselves. Only the end of the whole can be noticed.

use crate::context::{Current, Gpu};
use crate::error::Failure;
use crate::grids::{Descriptor, Grid};
use crate::library::{GraphCalls, KernelNode, RawGraph, RawGraphExec, RawGraphNode, RawStream};
use crate::module::Handle;
use cloom_artifact::KernelArtifact;
use smallvec::SmallVec;
use std::ffi::c_void;
use std::sync::Arc;

/// Kernels of a graph.
pub const BATCH: usize = 32;

/// One grid with its arguments.
pub struct GridLaunch<'a> {
    /// What runs.
    pub function: Handle,
    /// Its groups.
    pub grid: &'a Grid,
    /// Bytes of local memory beside those that the function declares.
    pub local_size: u32,
    /// The first argument.
    pub descriptor: &'a Descriptor,
    /// Where the others are in `args`.
    pub artifact: &'a KernelArtifact,
    /// The argument block.
    pub args: &'a [u8],
}

impl GridLaunch<'_> {
    /// The addresses of the arguments.
    fn parameters(&self) -> Vec<*const c_void> {
        let args = self.artifact.args.iter().map(|arg| self.args[arg.offset as usize..].as_ptr().cast());
        std::iter::once((&raw const *self.descriptor).cast()).chain(args).collect()
    }

    /// Puts it on a stream.
    pub fn launch(&self, current: &Current<'_>, stream: RawStream) -> Result<(), Failure> {
        let parameters = self.parameters();
        let ([gx, gy, gz], [lx, ly, lz], none) = (self.grid.groups, self.grid.local, std::ptr::null_mut());
        // SAFETY: the function's parameters are those of the artifact, as far as the driver tells (`check_parameters`);
        // `check` found that each lies in the argument block. The driver copies them before it returns. What they point
        // to is the kernel's to vouch for, and the caller keeps it until the end.
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

/// What the GPU does in a launch that waits to be submitted.
#[derive(PartialEq, Eq)]
pub struct Call {
    /// What runs; its kernel is kept until the launch has ended.
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

/// A launch that waits to be submitted.
pub struct Deferred {
    /// What it does.
    pub call: Call,
    /// Where the arguments are in `call.args`.
    pub artifact: Arc<KernelArtifact>,
}

impl Deferred {
    /// The grid, to submit it.
    pub fn grid(&self) -> GridLaunch<'_> {
        let Deferred { ref call, ref artifact } = *self;
        let Call { function, ref grid, local_size, ref descriptor, ref args } = *call;
        GridLaunch { function, grid, local_size, descriptor, artifact, args }
    }
}

/// A graph that was made.
pub struct Graph {
    gpu: Arc<Gpu>,
    calls: GraphCalls,
    graph: RawGraph,
    exec: RawGraphExec,
    nodes: Vec<RawGraphNode>,
    /// What each node is set to, if that is known.
    set: Vec<Option<Call>>,
}

impl Graph {
    /// One for launches of this context, whose kernels are this one at first. None if the driver makes none.
    pub fn new(gpu: &Arc<Gpu>, current: &Current<'_>, first: &GridLaunch<'_>) -> Option<Graph> {
        let calls = current.table().graphs()?;
        let mut graph = RawGraph::NULL;
        // SAFETY: it writes a handle.
        current.check("cuGraphCreate", unsafe { (calls.create)(&mut graph, 0) }).ok()?;
        let mut made =
            Graph { gpu: gpu.clone(), calls, graph, exec: RawGraphExec::NULL, nodes: Vec::new(), set: Vec::new() };
        for _ in 0..BATCH {
            let (mut node, before) = (RawGraphNode::NULL, made.nodes.last());
            let count = usize::from(before.is_some());
            let before = before.map_or(std::ptr::null(), |before| &raw const *before);
            // SAFETY: it writes a handle, and reads one node at most and the parameters, as a launch does.
            let code =
                first.as_node(|new| unsafe { (made.calls.add_kernel)(&mut node, made.graph, before, count, new) });
            current.check("cuGraphAddKernelNode", code).ok()?;
            made.nodes.push(node);
            made.set.push(None);
        }
        // SAFETY: it writes a handle; the graph lives.
        let code = unsafe { (made.calls.instantiate)(&mut made.exec, made.graph, 0) };
        current.check("cuGraphInstantiateWithFlags", code).ok()?;
        Some(made)
    }

    /// Puts launches on a stream, [`BATCH`] of them. If it fails, none was, and they come back.
    pub fn launch(
        &mut self,
        current: &Current<'_>,
        stream: RawStream,
        launches: Vec<Deferred>,
    ) -> Result<(), Vec<Deferred>> {
        debug_assert_eq!(launches.len(), self.nodes.len());
        let launched = self.set_nodes(current, &launches).and_then(|()| {
            // SAFETY: graph and stream live.
            current.check("cuGraphLaunch", unsafe { (self.calls.launch)(self.exec, stream) })
        });
        if launched.is_err() {
            self.set.fill_with(|| None);
            return Err(launches);
        }
        for (set, launch) in self.set.iter_mut().zip(launches) {
            set.get_or_insert(launch.call);
        }
        Ok(())
    }

    /// Sets the nodes that are to do something else than before; these have nothing in `set` then.
    fn set_nodes(&mut self, current: &Current<'_>, launches: &[Deferred]) -> Result<(), Failure> {
        for ((&node, set), launch) in self.nodes.iter().zip(&mut self.set).zip(launches) {
            if set.as_ref() == Some(&launch.call) {
                continue;
            }
            *set = None;
            // SAFETY: the node is of the graph. The parameters are as for a launch, and copied. What was submitted
            // before does not change.
            let code = launch.grid().as_node(|new| unsafe { (self.calls.set_kernel)(self.exec, node, new) });
            current.check("cuGraphExecKernelNodeSetParams", code)?;
        }
        Ok(())
    }
}

impl Drop for Graph {
    /// What was submitted goes on to its end.
    fn drop(&mut self) {
        if self.exec != RawGraphExec::NULL {
            // SAFETY: made by `new`, and nobody uses it any more.
            self.gpu.release("cuGraphExecDestroy", |_| unsafe { (self.calls.destroy_exec)(self.exec) });
        }
        // SAFETY: as above.
        self.gpu.release("cuGraphDestroy", |_| unsafe { (self.calls.destroy)(self.graph) });
    }
}
