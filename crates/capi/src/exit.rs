//! The driver registers no exit handlers of LLVM.
//!
//! C++ objects with static storage are destroyed at exit, by the exiting thread, even if other threads use them; and
//! LLVM creates such objects on demand. A background compilation would find its tables destroyed. So no registration
//! (`__cxa_atexit`) from the driver's code, which means LLVM's, reaches the C library: the linker replaces the call by
//! the function below (`--wrap`, in the build script). The system frees the memory with the process. Only the driver is
//! linked so; programs that contain the compiler wait for code generation at exit (`cloom_llvm`).

#[cfg(target_arch = "x86_64")]
macro_rules! give_zero {
    () => {
        "xor eax, eax"
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! give_zero {
    () => {
        "mov w0, #0"
    };
}

std::arch::global_asm!(
    ".text",
    ".globl __wrap___cxa_atexit",
    ".hidden __wrap___cxa_atexit",
    ".type __wrap___cxa_atexit, @function",
    "__wrap___cxa_atexit:",
    give_zero!(),
    "ret",
);
