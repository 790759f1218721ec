//! Loads kernels: PTX in, a function of the driver out.
//!
//! The driver's linker (`cuLink…`) translates PTX to machine code, which can be cached. Loading PTX by
//! `cuModuleLoadDataEx` would translate it too, but for one thread at a time, while launches wait; the linker works for
//! as many threads as there are cores. Bytes that do not load, and kernels whose parameters are not those of the
//! artifact, are errors.

use crate::cache::{CubinCache, CubinKey};
use crate::context::{Current, Gpu};
use crate::error::Failure;
use crate::exit::Call;
use crate::library::{RawFunction, RawLink, RawModule};
use cloom_artifact::{CoarseEntry, Coarsening, KernelArtifact, WarpShape};
use cloom_cuda_abi::constants::{
    FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
    FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, JIT_ERROR_LOG_BUFFER,
    JIT_ERROR_LOG_BUFFER_SIZE_BYTES, JIT_GENERATE_LINE_INFO, JIT_INPUT_PTX, JIT_MAX_REGISTERS, JIT_OPTIMIZATION_LEVEL,
};
use cloom_hal::{HalError, Kernel, Memory};
use cloom_ir::abi::gpu::{self, Effort};
use std::ffi::{CStr, CString, c_void};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Builder;

/// Bytes of the log of errors.
const LOG_BYTES: usize = 8 << 10;

/// Bytes of local memory that a group may have without `cuFuncSetAttribute`.
const PLAIN_LOCAL_BYTES: u64 = 48 << 10;
/// Threads of the largest group, and the registers of each thread in such a group: a group has 64 K of them.
pub const LARGEST_GROUP_THREADS: u64 = 1024;
const REGISTERS_OF_LARGEST_GROUP: usize = 64;

/// The target of a load, and its cache.
pub struct LoadFor<'a> {
    /// The GPU.
    pub gpu: &'a Arc<Gpu>,
    /// Ten times its compute capability.
    pub capability: u32,
    /// Bytes of local memory that a group can have.
    pub local_memory: u64,
    /// Where machine code is kept.
    pub cache: Option<&'a dyn CubinCache>,
}

/// A kernel of a GPU.
pub struct CudaKernel {
    pub(crate) artifact: Arc<KernelArtifact>,
    /// Its name, for errors of launches that outlive the borrow of the kernel.
    pub(crate) name: Arc<str>,
    pub(crate) gpu: Arc<Gpu>,
    pub(crate) function: Function,
    pub(crate) coarse: Option<CoarseFunction>,
    pub(crate) warp: WarpShape,
    /// The kernel with fewer registers, for groups that are too large for `function`. Made for the first such group.
    large: OnceLock<Result<Function, HalError>>,
    /// Bytes of local memory of the largest group.
    pub(crate) local_memory: u64,
    /// The most work-items of a launch that was quick.
    pub(crate) quick: Arc<AtomicU64>,
    /// Whether it has run.
    is_known: AtomicBool,
    /// Whether a thread has private memory beside its registers.
    pub(crate) has_private: bool,
    /// The memory of the program's variables, which lives as long as the kernel.
    pub(crate) variables: Option<Arc<dyn Memory>>,
}

impl Kernel for CudaKernel {
    fn artifact(&self) -> &KernelArtifact {
        &self.artifact
    }

    fn max_group_size(&self) -> u64 {
        LARGEST_GROUP_THREADS
    }

    fn best_group_size(&self) -> u64 {
        self.function.most
    }
}

/// Names a function in a launch. The function stays loaded as long as there is a handle.
#[derive(Clone)]
pub struct Handle {
    /// The driver's handle, which may become that of another function when this one is unloaded.
    pub(crate) raw: RawFunction,
    /// A number that no other function of this process has or had.
    number: u64,
    module: Arc<Module>,
}

impl Handle {
    fn new(raw: RawFunction, module: &Arc<Module>) -> Handle {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        Handle { raw, number: NEXT.fetch_add(1, Ordering::Relaxed), module: module.clone() }
    }

    /// The artifact that it was loaded from, which says where the arguments of a launch are.
    pub(crate) fn artifact(&self) -> &KernelArtifact {
        &self.module.artifact
    }

    /// Its number.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
}

impl PartialEq for Handle {
    fn eq(&self, other: &Handle) -> bool {
        self.number == other.number
    }
}

impl Eq for Handle {}

/// A function of the driver.
pub struct Function {
    pub(crate) handle: Handle,
    /// Threads of the largest group for which there are registers.
    pub(crate) most: u64,
    /// Whether a group may have all the local memory that the GPU has.
    has_local_memory: AtomicBool,
}

/// A coarsened kernel: each of its work-items does the work of several of the ordinary kernel.
pub struct CoarseFunction {
    pub(crate) function: Function,
    pub(crate) factor: u32,
    pub(crate) coarsening: Coarsening,
}

/// A module of the driver. It is unloaded when the last handle of a function is dropped; kernels are kept until their
/// launches have ended.
struct Module {
    gpu: Arc<Gpu>,
    raw: RawModule,
    artifact: Arc<KernelArtifact>,
}

impl Module {
    fn function(self: &Arc<Module>, current: &Current<'_>, entry: &str) -> Result<Function, HalError> {
        let name = CString::new(entry).map_err(|_| bad("a symbol has a zero"))?;
        let mut raw = RawFunction::NULL;
        // SAFETY: the module is loaded, the name ends in a zero, and it writes a handle.
        let code = unsafe { (current.table().module_get_function)(&mut raw, self.raw, name.as_ptr()) };
        current.check("cuModuleGetFunction", code).map_err(|_| bad(&format!("no function {entry}")))?;
        // It depends on the registers that the function needs.
        let most = u64::from(attribute_of(current, raw, FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?);
        Ok(Function { handle: Handle::new(raw, self), most, has_local_memory: AtomicBool::new(false) })
    }
}

impl Drop for Module {
    fn drop(&mut self) {
        let raw = self.raw;
        // SAFETY: loaded by `load`.
        self.gpu.release("cuModuleUnload", |table| unsafe { (table.module_unload)(raw) });
    }
}

impl CudaKernel {
    /// Loads a kernel.
    pub fn load(
        to: &LoadFor<'_>,
        artifact: Arc<KernelArtifact>,
        variables: Option<Arc<dyn Memory>>,
    ) -> Result<CudaKernel, HalError> {
        let Some(launch) = artifact.gpu() else {
            return Err(bad("it runs a work-group, and a GPU runs work-items"));
        };
        let (coarse, warp, effort) = (launch.coarse.clone(), launch.warp, launch.effort);
        if artifact.enqueues {
            return Err(bad("it enqueues kernels, which a GPU does not"));
        }
        let ptx = text_of(&artifact)?;
        // One call around the whole load: otherwise the process could begin to end in its middle, and an error below
        // would unload the module while the driver is torn down.
        let _end_waits = Call::begin()?;
        let current = to.gpu.enter()?;
        let raw = load(&current, to, &ptx, effort)?;
        // From here on an error unloads the module, since dropping its last reference does.
        let module = Arc::new(Module { gpu: to.gpu.clone(), raw, artifact: artifact.clone() });
        let function = module.function(&current, &artifact.entry)?;
        let coarse = match coarse {
            Some(CoarseEntry { entry, factor, coarsening }) => {
                Some(CoarseFunction { function: module.function(&current, &entry)?, factor: factor.max(1), coarsening })
            }
            None => None,
        };
        // Private memory counts if either function has some: which of them a launch runs is known only when it is
        // checked.
        let functions = std::iter::once(&function).chain(coarse.iter().map(|coarse| &coarse.function));
        let private =
            functions.map(|function| attribute_of(&current, function.handle.raw, FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
        let has_private = private.collect::<Result<Vec<_>, _>>()?.into_iter().any(|bytes| bytes > 0);
        // Local memory that the function declares counts towards the limit of a group.
        let static_shared = u64::from(attribute_of(&current, function.handle.raw, FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?);
        let kernel = CudaKernel {
            name: artifact.name.as_str().into(),
            artifact,
            gpu: to.gpu.clone(),
            function,
            coarse,
            warp,
            large: OnceLock::new(),
            local_memory: to.local_memory.saturating_sub(static_shared),
            quick: Arc::default(),
            is_known: AtomicBool::new(false),
            has_private,
            variables,
        };
        kernel.check_parameters(&current)?;
        Ok(kernel)
    }

    /// The function for groups of so many threads: the kernel, or one that was compiled for fewer registers and keeps
    /// more values in memory.
    pub fn function_for(&self, current: &Current<'_>, threads: u64) -> Result<&Function, HalError> {
        if threads <= self.function.most {
            return Ok(&self.function);
        }
        let large = self.large.get_or_init(|| {
            let ptx = text_of(&self.artifact)?;
            // This code is not put into the cache, whose key does not name the limit of registers.
            let raw = compile(&self.gpu, |current| {
                let mut options = Options::new(ptx.as_bytes(), Effort::Full);
                options.set(JIT_MAX_REGISTERS, REGISTERS_OF_LARGEST_GROUP);
                load_ptx(current, &mut options, &ptx)
            })?;
            let module = Module { gpu: self.gpu.clone(), raw, artifact: self.artifact.clone() };
            Arc::new(module).function(current, &self.artifact.entry)
        });
        // An error is kept like a function: the same text would fail again, after the same time.
        let function = large.as_ref().map_err(Clone::clone)?;
        if threads > function.most {
            let (name, most) = (&self.name, function.most);
            let why =
                format!("a group has {threads} work-items, and there are registers for {most} of kernel `{name}`");
            return Err(HalError::Device(why));
        }
        Ok(function)
    }

    /// Compares the function's parameters with the artifact, if the driver describes them (from 12.4 on): for each
    /// parameter the driver reads as many bytes as the function declares.
    fn check_parameters(&self, current: &Current<'_>) -> Result<(), HalError> {
        let Some(info) = current.table().func_get_param_info else { return Ok(()) };
        let block = self.artifact.arg_block;
        // The driver reads parameter `i` from the argument's offset on, so it must not be longer than the rest of the
        // block.
        let room = self.artifact.args.iter().map(|arg| block.saturating_sub(arg.offset) as usize);
        // The first parameter is the launch descriptor; the arguments of the kernel follow.
        let rooms = std::iter::once(gpu::SIZE as usize).chain(room);
        let mut count = 0;
        for (i, room) in rooms.enumerate() {
            let (mut offset, mut size) = (0, 0);
            // SAFETY: it writes two numbers.
            if unsafe { info(self.function.handle.raw, i, &mut offset, &mut size) } != 0 || size > room {
                return Err(bad(&format!("parameter {i} of {} is not that of the kernel", self.artifact.entry)));
            }
            count += 1;
        }
        let (mut offset, mut size) = (0, 0);
        // SAFETY: the function is that of the loaded module, and the call writes two numbers.
        match unsafe { info(self.function.handle.raw, count, &mut offset, &mut size) } {
            0 => Err(bad(&format!("{} has more parameters than the kernel", self.artifact.entry))),
            _ => Ok(()),
        }
    }

    /// Whether submitting it cannot make the driver wait for the GPU: the kernel has been launched before, and needs no
    /// private memory, which the driver may have to enlarge.
    pub fn may_be_held(&self) -> bool {
        self.is_known.swap(true, Ordering::Relaxed) && !self.has_private
    }

    /// Makes sure that a group of a function may have so many bytes of local memory.
    pub fn allow_local(&self, current: &Current<'_>, function: &Function, size: u64) -> Result<(), HalError> {
        if size > self.local_memory {
            let most = self.local_memory;
            return Err(HalError::Device(format!(
                "a group asks for {size} bytes of local memory, and {most} are there"
            )));
        }
        // One call for the first group that needs it sets the most that any later group may ask for. Two threads that
        // find the flag unset both make the call, with the same number.
        if size <= PLAIN_LOCAL_BYTES || function.has_local_memory.load(Ordering::Relaxed) {
            return Ok(());
        }
        let most = i32::try_from(self.local_memory).unwrap_or(i32::MAX);
        // SAFETY: the function is that of the module.
        let code = unsafe {
            (current.table().func_set_attribute)(
                function.handle.raw,
                FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                most,
            )
        };
        current.check("cuFuncSetAttribute", code)?;
        function.has_local_memory.store(true, Ordering::Relaxed);
        Ok(())
    }
}

fn attribute_of(current: &Current<'_>, function: RawFunction, attribute: i32) -> Result<u32, Failure> {
    let mut value = 0;
    // SAFETY: it writes a number; the function is that of a loaded module.
    let code = unsafe { (current.table().func_get_attribute)(&mut value, attribute, function) };
    current.check("cuFuncGetAttribute", code)?;
    Ok(u32::try_from(value).unwrap_or(0))
}

/// The PTX of a kernel, without a zero at its end.
fn ptx_of(artifact: &KernelArtifact) -> &[u8] {
    artifact.code.strip_suffix(b"\0").unwrap_or(&artifact.code)
}

/// The text of a kernel's code.
fn text_of(artifact: &KernelArtifact) -> Result<CString, HalError> {
    CString::new(ptx_of(artifact)).map_err(|_| bad("its text has a zero"))
}

fn bad(why: &str) -> HalError {
    HalError::BadCode(why.to_owned())
}

/// The optimisation level of ptxas. (Mandelbrot's kernel of the baseline tier takes it 16 ms at 4, 14 at 1 and 10.5 at
/// 0, and has twice as many instructions at 0 as at 1.)
fn level(effort: Effort) -> usize {
    match effort {
        Effort::Full => 4,
        Effort::Less => 1,
        Effort::Least => 0,
    }
}

/// Options of ptxas: its errors go to a buffer, and source lines stay where the text has them.
struct Options {
    log: Vec<u8>,
    names: Vec<i32>,
    values: Vec<*mut c_void>,
}

impl Options {
    fn new(image: &[u8], effort: Effort) -> Options {
        let mut log = vec![0u8; LOG_BYTES];
        // Only the option `-g` puts source lines into the text. For text without them, ptxas is not asked for line
        // information.
        let has_lines = image.windows(6).any(|text| text == b"\t.loc\t");
        // The address stays valid when the vector moves into `options`, because the bytes are on the heap.
        let (names, values) = (vec![JIT_ERROR_LOG_BUFFER], vec![log.as_mut_ptr().cast()]);
        let mut options = Options { log, names, values };
        options.set(JIT_ERROR_LOG_BUFFER_SIZE_BYTES, LOG_BYTES);
        options.set(JIT_OPTIMIZATION_LEVEL, level(effort));
        options.set(JIT_GENERATE_LINE_INFO, has_lines.into());
        options
    }

    /// Sets an option that is a number.
    fn set(&mut self, name: i32, value: usize) {
        self.names.push(name);
        // The driver takes an option that is a number in the bits of the pointer itself.
        self.values.push(std::ptr::without_provenance_mut(value));
    }

    /// The error of a call with these options: the message of ptxas, if there is one.
    fn explain(&self, failure: Failure) -> HalError {
        let end = self.log.iter().position(|&b| b == 0).unwrap_or(LOG_BYTES);
        let text = String::from_utf8_lossy(&self.log[..end]);
        // Errors of memory and faults have other causes than the code.
        match HalError::from(failure.clone()) {
            HalError::Device(_) if !crate::error::is_lost() => {
                HalError::BadCode(format!("{}: {}", failure.name, text.trim()).trim_end_matches([':', ' ']).to_owned())
            }
            error => error,
        }
    }
}

/// Starts ptxas, on a thread of its own: starting it takes as long as compiling a small kernel. (H100: 15 ms for the
/// first empty kernel of a process, 8 for the next one.)
pub fn prepare(gpu: Arc<Gpu>) {
    // By the linker and not by a load, for which the driver may have a cache. An error here is ignored: without the
    // thread, the first kernel takes longer, and it reports what goes wrong.
    let _ = compiler_thread().spawn(move || translating(&gpu, |current| link(current, EMPTY, Effort::Less)).err());
}

/// A kernel for all GPUs.
const EMPTY: &CStr = c".version 7.0\n.target sm_75\n.address_size 64\n.visible .entry empty() { ret; }\n";

/// Bytes of stack for ptxas, which crashes if it has too little: it needs 256 KiB for a kernel of 128,000 lines, and an
/// application's thread may have no more.
const COMPILER_STACK_BYTES: usize = 16 << 20;

/// A thread for ptxas.
fn compiler_thread() -> Builder {
    Builder::new().name("cloom-gpu-load".into()).stack_size(COMPILER_STACK_BYTES)
}

/// Runs `work`, which uses ptxas, on this thread. The end of the process waits for it.
fn translating<T>(gpu: &Gpu, work: impl FnOnce(&Current<'_>) -> Result<T, HalError>) -> Result<T, HalError> {
    let call = Call::begin_compiling()?;
    let result = work(&gpu.enter()?);
    call.has_compiled();
    result
}

/// Runs `work`, which uses ptxas, on a thread of its own, and waits. The end of the process waits for that thread even
/// if the caller itself ends the process, in a signal handler that interrupted it.
fn compile<T: Send>(gpu: &Gpu, work: impl FnOnce(&Current<'_>) -> Result<T, HalError> + Send) -> Result<T, HalError> {
    std::thread::scope(|scope| {
        let spawned = compiler_thread().spawn_scoped(scope, || translating(gpu, work));
        let thread = spawned.map_err(|e| HalError::Device(format!("no thread to compile on: {e}")))?;
        thread
            .join()
            .unwrap_or_else(|_| Err(HalError::Device("a load failed inside Cloom; this is a bug of Cloom".into())))
    })
}

/// The key of PTX without a zero at its end.
fn key_of(to: &LoadFor<'_>, ptx: &[u8], effort: Effort) -> CubinKey {
    CubinKey::new(ptx, level(effort), to.gpu.driver.version, to.capability)
}

/// Whether the machine code of a kernel is in the cache.
pub fn is_kept(to: &LoadFor<'_>, artifact: &KernelArtifact) -> bool {
    let (Some(cache), Some(launch)) = (to.cache, artifact.gpu()) else { return false };
    cache.has(&key_of(to, ptx_of(artifact), launch.effort))
}

/// Loads PTX from the cache, or translates it with the linker, which other threads and launches do not wait for.
fn load(current: &Current<'_>, to: &LoadFor<'_>, ptx: &CString, effort: Effort) -> Result<RawModule, HalError> {
    let Some(cache) = to.cache else {
        return compile(to.gpu, |current| load_cubin(current, &link(current, ptx, effort)?));
    };
    // An entry that does not load counts as missing: the translation below replaces it.
    let key = key_of(to, ptx.as_bytes(), effort);
    if let Some(cubin) = cache.get(&key)
        && let Ok(module) = load_cubin(current, &cubin)
    {
        return Ok(module);
    }
    let cubin = compile(to.gpu, |current| {
        let cubin = link(current, ptx, effort)?;
        // The compiler's thread puts it into the cache: the end of the process waits for this thread, so that a short
        // program, too, leaves the code for its next run.
        cache.put(&key, &cubin);
        Ok(cubin)
    })?;
    load_cubin(current, &cubin)
}

/// Loads PTX without the linker, for options that only this call takes. The driver translates for one thread at a time.
fn load_ptx(current: &Current<'_>, options: &mut Options, ptx: &CStr) -> Result<RawModule, HalError> {
    load_image(current, ptx.to_bytes_with_nul(), options).map_err(|f| options.explain(f))
}

/// Loads machine code.
fn load_cubin(current: &Current<'_>, cubin: &[u8]) -> Result<RawModule, HalError> {
    let mut options = Options::new(&[], Effort::Full);
    load_image(current, cubin, &mut options).map_err(|f| options.explain(f))
}

/// Loads PTX that ends in a zero, or machine code.
fn load_image(current: &Current<'_>, image: &[u8], options: &mut Options) -> Result<RawModule, Failure> {
    let mut module = RawModule::NULL;
    let count = options.names.len() as u32;
    let (names, values) = (options.names.as_mut_ptr(), options.values.as_mut_ptr());
    // SAFETY: text ends in a zero, and machine code says its size; the log's buffer lives in `options`.
    let code = unsafe { (current.table().module_load_data)(&mut module, image.as_ptr().cast(), count, names, values) };
    current.check("cuModuleLoadDataEx", code).map(|()| module)
}

/// Translates PTX to machine code.
fn link(current: &Current<'_>, ptx: &CStr, effort: Effort) -> Result<Vec<u8>, HalError> {
    /// Ends the linker.
    struct Linker<'a>(&'a Current<'a>, RawLink);

    impl Drop for Linker<'_> {
        fn drop(&mut self) {
            // SAFETY: made below, and used by this function only.
            unsafe { (self.0.table().link_destroy)(self.1) };
        }
    }

    // Before the linker, which uses it until it ends.
    let mut options = Options::new(ptx.to_bytes(), effort);
    let table = current.table();
    let count = options.names.len() as u32;
    let mut raw = RawLink::NULL;
    // SAFETY: the options live longer than the linker.
    let code = unsafe { (table.link_create)(count, options.names.as_mut_ptr(), options.values.as_mut_ptr(), &mut raw) };
    current.check("cuLinkCreate", code).map_err(|f| options.explain(f))?;
    let linker = Linker(current, raw);
    let (text, none) = (ptx.to_bytes_with_nul(), std::ptr::null_mut());
    // SAFETY: the text ends in a zero and has this size with it; there are no options.
    let code = unsafe {
        let (data, name) = (text.as_ptr().cast(), c"kernel".as_ptr());
        (table.link_add_data)(linker.1, JIT_INPUT_PTX, data, text.len(), name, 0, none, std::ptr::null_mut())
    };
    current.check("cuLinkAddData", code).map_err(|f| options.explain(f))?;
    let (mut cubin, mut size) = (std::ptr::null_mut::<c_void>(), 0);
    // SAFETY: it writes a pointer and a size.
    let code = unsafe { (table.link_complete)(linker.1, &mut cubin, &mut size) };
    current.check("cuLinkComplete", code).map_err(|f| options.explain(f))?;
    // SAFETY: the linker owns so many bytes until it ends.
    Ok(unsafe { std::slice::from_raw_parts(cubin.cast::<u8>(), size) }.to_vec())
}
