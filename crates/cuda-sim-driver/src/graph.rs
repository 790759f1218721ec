//! Graphs of kernels and words, each of which follows the one before it.

use crate::code::{Ready, traces};
use crate::stream::Stream;
use crate::{driver, fallible, handle, lose, object, put, state, write_value};
use cloom_cuda_abi::constants::{
    ERROR_INVALID_HANDLE, ERROR_INVALID_VALUE, ERROR_LAUNCH_FAILED, STREAM_MEM_OP_WRITE_VALUE_64, SUCCESS,
};
use cloom_cuda_abi::{Code, KernelNode, RawContext, WordsNode};
use std::ffi::{c_uint, c_void};
use std::mem::discriminant;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The work of a node of a graph.
#[derive(Clone)]
enum Node {
    Kernel(Ready),
    /// Writes a value to an address.
    Word(u64, u64),
}

/// The nodes of a graph, or of an executable graph. The handle of a node is its position, counted from 1.
struct Graph(Mutex<Vec<Node>>);

impl Graph {
    fn nodes(&self) -> MutexGuard<'_, Vec<Node>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Ends everything if a kernel was never launched outside of a graph, or was unloaded: NVIDIA's driver accepts such a
/// node, and the GPU runs what was in the code's memory before.
fn check_usual(kernel: &Ready) {
    if !kernel.is_usual() {
        eprintln!("simulated GPU: a graph has a kernel that was unloaded, or never launched by itself");
        lose(ERROR_LAUNCH_FAILED);
    }
}

/// A kernel that is ready to run.
///
/// # Safety
/// The node's handle is that of a function, and there is an address for each of its parameters.
unsafe fn kernel_node(node: &KernelNode) -> Result<Node, Code> {
    if !node.extra.is_null() || !node.kernel.is_null() || !node.context.is_null() {
        return Err(ERROR_INVALID_VALUE);
    }
    let KernelNode { function, groups, local, local_size, parameters, .. } = *node;
    // SAFETY: the node's handle is that of a function, and it has an address for each parameter, as this function's
    // caller promises.
    let ready = unsafe { Ready::new(function.0, groups, local, local_size, parameters) }?;
    check_usual(&ready);
    Ok(Node::Kernel(ready))
}

/// A node that writes a word.
///
/// # Safety
/// `node.words` points to `node.count` descriptions.
unsafe fn word_node(node: &WordsNode) -> Result<Node, Code> {
    // SAFETY: `node.words` is null or points to a description, as this function's caller promises.
    let (1, 0, Some(word)) = (node.count, node.flags, unsafe { node.words.as_ref() }) else {
        return Err(ERROR_INVALID_VALUE);
    };
    if node.context == RawContext::NULL
        || (word.operation, word.flags, word.reserved) != (STREAM_MEM_OP_WRITE_VALUE_64, 0, [0; 2])
        || !word.address.is_multiple_of(8)
    {
        return Err(ERROR_INVALID_VALUE);
    }
    Ok(Node::Word(word.address, word.value))
}

/// Adds a node after the last.
///
/// # Safety
/// The pointers are null or valid, and `before` has `count` handles.
unsafe fn add(
    node: *mut *mut c_void,
    graph: *mut c_void,
    before: *const *mut c_void,
    count: usize,
    new: impl FnOnce() -> Result<Node, Code>,
) -> Code {
    // SAFETY: `graph` is null or a graph's handle, and no object of a handle is freed.
    let Some(graph) = (unsafe { object::<Graph>(graph) }) else { return ERROR_INVALID_HANDLE };
    let mut nodes = graph.nodes();
    // Cloom makes chains only. Any other graph is refused, so that nothing here needs an order but that of the list.
    let follows_last = match count {
        0 => nodes.is_empty(),
        // SAFETY: `before` points to `count` handles, which is one here. The handle itself is a number and is not
        // dereferenced.
        1 => unsafe { *before }.addr() == nodes.len(),
        _ => false,
    };
    if !follows_last {
        return ERROR_INVALID_VALUE;
    }
    match new() {
        Ok(new) => nodes.push(new),
        Err(code) => return code,
    }
    // SAFETY: `node` is null or valid for writing, as CUDA asks of the caller.
    unsafe { put(node, std::ptr::without_provenance_mut(nodes.len())) }
}

/// Changes a node, to one of the same kind, for later launches.
///
/// # Safety
/// The handle is null or valid.
unsafe fn set(exec: *mut c_void, node: *mut c_void, new: Result<Node, Code>) -> Code {
    // SAFETY: `exec` is null or a graph's handle, and no object of a handle is freed.
    let Some(exec) = (unsafe { object::<Graph>(exec) }) else { return ERROR_INVALID_HANDLE };
    let mut nodes = exec.nodes();
    let Some(place) = node.addr().checked_sub(1).and_then(|at| nodes.get_mut(at)) else { return ERROR_INVALID_VALUE };
    if let Node::Kernel(old) = &*place {
        // The kernel that is replaced counts, too: on hardware, a node that was set from an unloaded function to
        // another one ran the wrong code.
        check_usual(old);
    }
    match new {
        Ok(new) if discriminant(&new) == discriminant(place) => *place = new,
        Ok(_) => return ERROR_INVALID_VALUE,
        Err(code) => return code,
    }
    state()
}

driver! {
    /// A graph without nodes.
    fn cuGraphCreate(graph: *mut *mut c_void, _flags: c_uint) {
        // SAFETY: `graph` is null or valid for writing, as CUDA asks of the caller.
        fallible(|| unsafe { put(graph, handle(Graph(Mutex::default()))) })
    }

    /// Adds a kernel after the last node.
    fn cuGraphAddKernelNode_v2(
        node: *mut *mut c_void,
        graph: *mut c_void,
        before: *const *mut c_void,
        count: usize,
        kernel: *const KernelNode,
    ) {
        // SAFETY: `kernel` is null or points to a live value, as CUDA asks of the caller.
        let Some(kernel) = (unsafe { kernel.as_ref() }) else { return ERROR_INVALID_VALUE };
        // SAFETY: `node` is null or valid, `graph` is null or a graph's handle, and `before` has `count` handles, as
        // CUDA asks.
        unsafe { add(node, graph, before, count, || kernel_node(kernel)) }
    }

    /// Adds words after the last node.
    fn cuGraphAddBatchMemOpNode(
        node: *mut *mut c_void,
        graph: *mut c_void,
        before: *const *mut c_void,
        count: usize,
        words: *const WordsNode,
    ) {
        // SAFETY: `words` is null or points to a live value, as CUDA asks of the caller.
        let Some(words) = (unsafe { words.as_ref() }) else { return ERROR_INVALID_VALUE };
        // SAFETY: `node` is null or valid, `graph` is null or a graph's handle, and `before` has `count` handles, as
        // CUDA asks.
        fallible(|| unsafe { add(node, graph, before, count, || word_node(words)) })
    }

    /// An executable copy.
    fn cuGraphInstantiateWithFlags(exec: *mut *mut c_void, graph: *mut c_void, _flags: u64) {
        // SAFETY: `graph` is null or a graph's handle, and no object of a handle is freed.
        let Some(graph) = (unsafe { object::<Graph>(graph) }) else { return ERROR_INVALID_HANDLE };
        // SAFETY: `exec` is null or valid for writing, as CUDA asks of the caller.
        fallible(|| unsafe { put(exec, handle(Graph(Mutex::new(graph.nodes().clone())))) })
    }

    /// Changes a kernel for later launches.
    fn cuGraphExecKernelNodeSetParams_v2(exec: *mut c_void, node: *mut c_void, kernel: *const KernelNode) {
        // SAFETY: `kernel` is null or points to a live value, as CUDA asks of the caller.
        let Some(kernel) = (unsafe { kernel.as_ref() }) else { return ERROR_INVALID_VALUE };
        // SAFETY: `exec` is null or a graph's handle, and the node describes a launch, as CUDA asks of the caller.
        unsafe { set(exec, node, kernel_node(kernel)) }
    }

    /// Changes words for later launches.
    fn cuGraphExecBatchMemOpNodeSetParams(exec: *mut c_void, node: *mut c_void, words: *const WordsNode) {
        // SAFETY: `words` is null or points to a live value, as CUDA asks of the caller.
        let Some(words) = (unsafe { words.as_ref() }) else { return ERROR_INVALID_VALUE };
        // SAFETY: `exec` is null or a graph's handle, and the node describes words to write, as CUDA asks of the
        // caller.
        unsafe { set(exec, node, word_node(words)) }
    }

    /// Executes the nodes when their turn on the stream comes.
    fn cuGraphLaunch(exec: *mut c_void, stream: *mut c_void) {
        // SAFETY: `exec` and `stream` are null or handles of such objects, and no object of a handle is freed.
        let (Some(exec), Some(stream)) = (unsafe { (object::<Graph>(exec), object::<Stream>(stream)) }) else {
            return ERROR_INVALID_HANDLE;
        };
        fallible(|| {
            let nodes = exec.nodes();
            if traces() {
                eprintln!("simulated GPU: a graph of {} nodes", nodes.len());
            }
            for node in nodes.iter() {
                // A copy: the node may be changed for the next launch while this one still waits on the stream.
                match node.clone() {
                    Node::Kernel(kernel) => {
                        check_usual(&kernel);
                        kernel.push(stream);
                    }
                    Node::Word(address, value) => stream.push(Box::new(move || write_value(address, value))),
                }
            }
            SUCCESS
        })
    }

    /// The object stays.
    fn cuGraphDestroy(_graph: *mut c_void) { SUCCESS }

    /// The object stays.
    fn cuGraphExecDestroy(_exec: *mut c_void) { SUCCESS }
}
