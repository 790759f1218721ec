//! What the end of a process does to the driver: nothing.
//!
//! Objects of C++ with static storage are destroyed when the process ends, by the thread that ends it, whatever other
//! threads do with them; and LLVM makes such objects whenever it first needs one. A thread that compiles in the
//! background would find its tables gone. So none of the registrations (`__cxa_atexit`) in the driver's own code, which
//! is LLVM's, reaches the C library: the linker is told to take the function below in its place (`--wrap`, in the build
//! script). The memory goes with the process. Only the driver is linked so; programs that contain the compiler wait for
//! code generation when they end (`cloom_llvm`).

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
