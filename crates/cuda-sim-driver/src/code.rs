//! Modules and launches. Machine code is the text of PTX, unchanged.

use crate::memory::Seen;
use crate::stream::Stream;
use crate::{compiler, current, driver, fallible, handle, lose, number, object, put, unless_lost, with_memory};
use cloom_cuda_abi::Code;
use cloom_cuda_abi::constants::{
    ERROR_ILLEGAL_ADDRESS, ERROR_INVALID_HANDLE, ERROR_INVALID_PTX, ERROR_INVALID_VALUE, ERROR_LAUNCH_FAILED,
    ERROR_LAUNCH_OUT_OF_RESOURCES, ERROR_LAUNCH_TIMEOUT, ERROR_MISALIGNED_ADDRESS, ERROR_NOT_FOUND,
    JIT_ERROR_LOG_BUFFER, JIT_ERROR_LOG_BUFFER_SIZE_BYTES, JIT_MAX_REGISTERS, JIT_OPTIMIZATION_LEVEL, SUCCESS,
};
use cloom_cuda_sim::ptx::{Fault, Grid, Loaded, Module, ParamInfo, launch};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// The budget of instructions of a launch, unless `CUDA_SIM_BUDGET` gives another one. A kernel that needs more counts
/// as endless.
const BUDGET: u64 = 20_000_000_000;
/// Threads of a group.
const MAX_THREADS: c_int = 1024;
/// Registers of a group.
const REGISTERS: usize = 64 << 10;
/// Bytes of local memory that a group has without `cuFuncSetAttribute`, and the most that it can have.
const PLAIN_SHARED: c_int = 48 << 10;
const MAX_SHARED: c_int = 99 << 10;

/// A module that was loaded.
struct LoadedModule {
    module: Arc<Loaded>,
    /// Threads of the largest group.
    most_threads: c_int,
    is_unloaded: Arc<AtomicBool>,
}

/// A kernel of a module.
struct Function {
    module: Arc<Loaded>,
    is_unloaded: Arc<AtomicBool>,
    name: String,
    params: Vec<ParamInfo>,
    /// Threads of the largest group.
    most_threads: c_int,
    /// Bytes of dynamic local memory that a group may have.
    most_shared: Mutex<c_int>,
    /// Whether it was launched outside of a graph.
    launched: AtomicBool,
}

/// A linker.
struct Linker {
    /// Its output: the PTX, which ends in a zero.
    code: Mutex<Vec<u8>>,
    log: ErrorLog,
}

/// Where the caller wants messages; null and no room if nowhere.
struct ErrorLog {
    buffer: *mut u8,
    bytes: usize,
}

impl ErrorLog {
    /// The log that options name.
    ///
    /// # Safety
    /// `names` and `values` have `count` elements each.
    unsafe fn new(count: c_uint, names: *const c_int, values: *const *mut c_void) -> ErrorLog {
        // SAFETY: `names` and `values` have `count` elements each, as this function's caller promises.
        let found = |name: c_int| unsafe { option(name, count, names, values) };
        match (found(JIT_ERROR_LOG_BUFFER), found(JIT_ERROR_LOG_BUFFER_SIZE_BYTES)) {
            (Some(buffer), Some(bytes)) => ErrorLog { buffer: buffer.cast(), bytes: bytes.addr() },
            _ => ErrorLog { buffer: std::ptr::null_mut(), bytes: 0 },
        }
    }

    /// Writes a message, cut off where the log ends.
    ///
    /// # Safety
    /// The log has the size that the options say.
    unsafe fn write(&self, message: &str) {
        let Some(room) = self.bytes.checked_sub(1) else { return };
        let message = &message.as_bytes()[..message.len().min(room)];
        // SAFETY: the log has room for the message and a zero, as this function's caller promises.
        unsafe {
            self.buffer.copy_from_nonoverlapping(message.as_ptr(), message.len());
            self.buffer.add(message.len()).write(0);
        }
    }
}

/// The value of an option.
///
/// # Safety
/// `names` and `values` have `count` elements each.
unsafe fn option(name: c_int, count: c_uint, names: *const c_int, values: *const *mut c_void) -> Option<*mut c_void> {
    // SAFETY: `names` and `values` have `count` elements each, as this function's caller promises.
    unsafe { (0..count as usize).find(|&i| *names.add(i) == name).map(|i| *values.add(i)) }
}

/// Threads of the largest group of a module's kernels. The registers of the code are not counted: the limit is that of
/// `CUDA_SIM_THREADS`, unless the module was loaded for fewer registers.
fn most_threads(registers: Option<*mut c_void>) -> c_int {
    let most = match registers {
        Some(registers) => Some((REGISTERS / registers.addr().max(1)) as c_int),
        None => number("CUDA_SIM_THREADS"),
    };
    most.unwrap_or(MAX_THREADS).clamp(1, MAX_THREADS)
}

/// The text of an image, checked.
///
/// # Safety
/// The image ends in a zero.
unsafe fn parse(image: *const c_void) -> Result<(Module, Vec<u8>), String> {
    // SAFETY: `image` ends in a zero, as this function's caller promises.
    let text = unsafe { CStr::from_ptr(image.cast()) };
    let module = Module::parse(&text.to_string_lossy()).map_err(|e| e.to_string())?;
    Ok((module, text.to_bytes_with_nul().to_vec()))
}

driver! {
    /// Loads PTX.
    fn cuModuleLoadDataEx(
        module: *mut *mut c_void,
        image: *const c_void,
        count: c_uint,
        names: *mut c_int,
        values: *mut *mut c_void,
    ) {
        // SAFETY: `image` is a text that ends in a zero, as CUDA asks of the caller.
        fallible(|| match unsafe { parse(image) } {
            Ok((parsed, _)) => {
                let device = current();
                let loaded = with_memory(|memory| parsed.load(&mut Seen { memory, device }));
                // SAFETY: `names` and `values` have `count` elements each, as CUDA asks of the caller.
                let registers = unsafe { option(JIT_MAX_REGISTERS, count, names, values) };
                let most_threads = most_threads(registers);
                let new = LoadedModule { module: Arc::new(loaded), most_threads, is_unloaded: Arc::default() };
                // SAFETY: `module` is null or valid for writing, as CUDA asks of the caller.
                unsafe { put(module, handle(new)) }
            }
            Err(error) => {
                // SAFETY: `names` and `values` have `count` elements each, and the log has the size that they say, as
                // CUDA asks.
                unsafe { ErrorLog::new(count, names, values).write(&error) };
                ERROR_INVALID_PTX
            }
        })
    }

    /// The module stays in memory, as its kernels may still run, but graphs may not launch its kernels any more. With
    /// `CUDA_SIM_UNLOADS_MS`, the call takes so many milliseconds.
    fn cuModuleUnload(module: *mut c_void) {
        // SAFETY: `module` is null or a module's handle, and no object of a handle is freed.
        let Some(module) = (unsafe { object::<LoadedModule>(module) }) else { return ERROR_INVALID_HANDLE };
        module.is_unloaded.store(true, Ordering::Relaxed);
        crate::exit::unload();
        SUCCESS
    }

    /// A kernel of it.
    fn cuModuleGetFunction(function: *mut *mut c_void, module: *mut c_void, name: *const c_char) {
        // SAFETY: `module` is null or a module's handle, whose object is never freed, and `name` ends in a zero, as
        // CUDA asks.
        let (Some(loaded), name) = (unsafe { (object::<LoadedModule>(module), CStr::from_ptr(name)) }) else {
            return ERROR_INVALID_HANDLE;
        };
        // The flag is shared with the functions, so that a graph can ask at each launch whether its kernel is still
        // loaded.
        let LoadedModule { module, most_threads, is_unloaded } = loaded;
        let name = name.to_string_lossy().into_owned();
        let Some(params) = module.module().params(&name).map(<[ParamInfo]>::to_vec) else { return ERROR_NOT_FOUND };
        let (module, is_unloaded, most_threads) = (module.clone(), is_unloaded.clone(), *most_threads);
        let (most_shared, launched) = (Mutex::new(PLAIN_SHARED), AtomicBool::new(false));
        let found = Function { module, is_unloaded, name, params, most_threads, most_shared, launched };
        // SAFETY: `function` is null or valid for writing, as CUDA asks of the caller.
        unsafe { put(function, handle(found)) }
    }

    /// The properties that Cloom asks for.
    fn cuFuncGetAttribute(value: *mut c_int, attribute: c_int, function: *mut c_void) {
        // SAFETY: `function` is null or a function's handle, and no object of a handle is freed.
        let Some(function) = (unsafe { object::<Function>(function) }) else { return ERROR_INVALID_HANDLE };
        let answer = match attribute {
            0 => function.most_threads,
            // Static shared memory, and private memory.
            1 | 3 => 0,
            _ => return ERROR_INVALID_VALUE,
        };
        // SAFETY: `value` is null or valid for writing, as CUDA asks of the caller.
        unsafe { put(value, answer) }
    }

    /// Allows more dynamic local memory.
    fn cuFuncSetAttribute(function: *mut c_void, attribute: c_int, value: c_int) {
        // SAFETY: `function` is null or a function's handle, and no object of a handle is freed.
        let Some(function) = (unsafe { object::<Function>(function) }) else { return ERROR_INVALID_HANDLE };
        if attribute != 8 || !(0..=MAX_SHARED).contains(&value) {
            return ERROR_INVALID_VALUE;
        }
        if let Ok(mut most) = function.most_shared.lock() {
            *most = value;
        }
        SUCCESS
    }

    /// A parameter of it.
    fn cuFuncGetParamInfo(function: *mut c_void, index: usize, offset: *mut usize, size: *mut usize) {
        // SAFETY: `function` is null or a function's handle, and no object of a handle is freed.
        let Some(function) = (unsafe { object::<Function>(function) }) else { return ERROR_INVALID_HANDLE };
        let mut at = 0usize;
        for (i, param) in function.params.iter().enumerate() {
            // Parameters lie one after the other as the members of a structure do, each at its own alignment.
            at = at.next_multiple_of(param.align.max(1));
            if i == index {
                // SAFETY: `offset` and `size` are null or valid for writing, as CUDA asks of the caller.
                return unsafe { put(offset, at) | put(size, param.size) };
            }
            at += param.size;
        }
        ERROR_INVALID_VALUE
    }

    /// A linker.
    fn cuLinkCreate_v2(count: c_uint, names: *mut c_int, values: *mut *mut c_void, linker: *mut *mut c_void) {
        // SAFETY: `names` and `values` have `count` elements each, as CUDA asks of the caller.
        if let (true, Some(level)) = (traces(), unsafe { option(JIT_OPTIMIZATION_LEVEL, count, names, values) }) {
            eprintln!("simulated GPU: compiles at level {}", level.addr());
        }
        // SAFETY: `names` and `values` have `count` elements each, as CUDA asks of the caller.
        let log = unsafe { ErrorLog::new(count, names, values) };
        // SAFETY: `linker` is null or valid for writing, as CUDA asks of the caller.
        fallible(|| unsafe { put(linker, handle(Linker { code: Mutex::default(), log })) })
    }

    /// Takes PTX.
    fn cuLinkAddData_v2(
        linker: *mut c_void,
        _kind: c_int,
        data: *const c_void,
        _size: usize,
        _name: *const c_char,
        _count: c_uint,
        _names: *mut c_int,
        _values: *mut *mut c_void,
    ) {
        // SAFETY: `linker` is null or a linker's handle, and no object of a handle is freed.
        let Some(linker) = (unsafe { object::<Linker>(linker) }) else { return ERROR_INVALID_HANDLE };
        // NVIDIA's driver opens its compiler at the first translation; what that does to a process is part of the
        // simulation.
        compiler::translate();
        // SAFETY: `data` is a text that ends in a zero, as CUDA asks of the caller.
        match (unsafe { parse(data) }, linker.code.lock()) {
            (Ok((_, text)), Ok(mut code)) => {
                *code = text;
                SUCCESS
            }
            (Err(error), _) => {
                // SAFETY: the log that the linker was made with stays valid until it is destroyed, as CUDA asks.
                unsafe { linker.log.write(&error) };
                ERROR_INVALID_PTX
            }
            _ => ERROR_INVALID_PTX,
        }
    }

    /// Returns the PTX unchanged in place of machine code.
    fn cuLinkComplete(linker: *mut c_void, code: *mut *mut c_void, size: *mut usize) {
        // SAFETY: `linker` is null or a linker's handle, and no object of a handle is freed.
        let linker = unsafe { object::<Linker>(linker) };
        let Some(Ok(mut text)) = linker.map(|linker| linker.code.lock()) else { return ERROR_INVALID_HANDLE };
        // SAFETY: `code` and `size` are null or valid for writing. The text stays where it is, as nothing is linked
        // twice.
        unsafe { put(code, text.as_mut_ptr().cast()) | put(size, text.len()) }
    }

    /// The object stays.
    fn cuLinkDestroy(_linker: *mut c_void) { SUCCESS }

    /// Runs a kernel when its turn on the stream comes.
    fn cuLaunchKernel(
        function: *mut c_void,
        groups_x: c_uint,
        groups_y: c_uint,
        groups_z: c_uint,
        threads_x: c_uint,
        threads_y: c_uint,
        threads_z: c_uint,
        shared: c_uint,
        stream: *mut c_void,
        params: *const *const c_void,
        _extra: *mut *mut c_void,
    ) {
        // SAFETY: `stream` is null or a stream's handle, and no object of a handle is freed.
        let Some(stream) = (unsafe { object::<Stream>(stream) }) else { return ERROR_INVALID_HANDLE };
        let (groups, threads) = ([groups_x, groups_y, groups_z], [threads_x, threads_y, threads_z]);
        // SAFETY: `params` has an address for each parameter, as CUDA asks of the caller, and `new` checks the handle.
        match unsafe { Ready::new(function, groups, threads, shared, params) } {
            Ok(ready) => fallible(|| {
                // Graphs may have this function from now on: see `check_usual`.
                ready.function.launched.store(true, Ordering::Relaxed);
                ready.push(stream);
                SUCCESS
            }),
            Err(code) => code,
        }
    }
}

/// A launch with its arguments.
#[derive(Clone)]
pub struct Ready {
    function: &'static Function,
    grid: Grid,
    values: Arc<Vec<Vec<u8>>>,
}

impl Ready {
    /// Checks it, and takes the arguments.
    ///
    /// # Safety
    /// The handle is that of a function, and there is an address for each parameter, with as many bytes as it has.
    pub unsafe fn new(
        function: *mut c_void,
        groups: [c_uint; 3],
        threads: [c_uint; 3],
        shared: c_uint,
        params: *const *const c_void,
    ) -> Result<Ready, Code> {
        // SAFETY: `function` is null or a function's handle, and no object of a handle is freed.
        let Some(function) = (unsafe { object::<Function>(function) }) else { return Err(ERROR_INVALID_HANDLE) };
        let grid = Grid { groups, threads, dynamic_shared: shared };
        // CUDA's limits of a grid and of a block, dimension by dimension. They keep the product of threads below 2^26.
        let most = [i32::MAX as u32, 65535, 65535, 1024, 1024, 64];
        let sizes = groups.into_iter().chain(threads);
        let most_shared = function.most_shared.lock().map_or(0, |most| *most);
        if sizes.zip(most).any(|(n, most)| n == 0 || n > most) || shared > most_shared as u32 {
            return Err(ERROR_INVALID_VALUE);
        }
        if threads.iter().product::<u32>() > function.most_threads as u32 {
            return Err(ERROR_LAUNCH_OUT_OF_RESOURCES);
        }
        // SAFETY: `params` has an address of `size` bytes for each parameter, as this function's caller promises.
        let bytes = |i: usize, size: usize| unsafe { std::slice::from_raw_parts((*params.add(i)).cast::<u8>(), size) };
        // Copied in the call: the caller may change the arguments as soon as it returns, and the launch runs later.
        let values = function.params.iter().enumerate().map(|(i, param)| bytes(i, param.size).to_vec()).collect();
        Ok(Ready { function, grid, values: Arc::new(values) })
    }

    /// Whether its function was launched outside of a graph before, and is loaded.
    pub fn is_usual(&self) -> bool {
        self.function.launched.load(Ordering::Relaxed) && !self.function.is_unloaded.load(Ordering::Relaxed)
    }

    /// Adds the launch to a stream.
    pub fn push(self, stream: &Stream) {
        let device = stream.device;
        stream.push(Box::new(move || {
            unless_lost(|| run(self.function, device, &self.grid, &self.values));
        }));
    }
}

/// Whether to print launches to standard error.
pub fn traces() -> bool {
    number("CUDA_SIM_TRACE") == Some(1)
}

/// Runs a kernel. A fault ends everything.
fn run(function: &Function, device: u32, grid: &Grid, values: &[Vec<u8>]) -> Code {
    let budget = number("CUDA_SIM_BUDGET").unwrap_or(BUDGET);
    if traces() {
        eprintln!("simulated GPU: {} on {:?} groups of {:?}", function.name, grid.groups, grid.threads);
    }
    let result = with_memory(|memory| {
        launch(&function.module, &function.name, values, grid, &mut Seen { memory, device }, budget)
    });
    let Err(fault) = result else { return SUCCESS };
    eprintln!("simulated GPU: kernel {}: {fault}", function.name);
    lose(match fault {
        Fault::Access { .. } => ERROR_ILLEGAL_ADDRESS,
        Fault::Misaligned { .. } => ERROR_MISALIGNED_ADDRESS,
        Fault::TooLong { .. } => ERROR_LAUNCH_TIMEOUT,
        _ => ERROR_LAUNCH_FAILED,
    });
    SUCCESS
}
