//! What LLVM, which is C++, allocates in the driver.
//!
//! C++ throws if there is no memory, LLVM does not catch, and the process ends. So the driver's references to
//! `operator new` come here instead (`--wrap`, in the build script). Without memory, the thread that generates code is
//! given up, and the compilation fails. Nothing but the references of the driver itself is replaced: the C++ library, and
//! that of the application, are as they were.

use std::ffi::c_void;
use std::hint::black_box;

fn allocate(size: usize, align: usize) -> *mut c_void {
    // The C library's memory, as that of the C++ library: `operator delete` is not replaced.
    let align = align.max(16);
    // SAFETY: allocates.
    let block = unsafe {
        if align <= 16 { libc::malloc(size.max(1)) } else { libc::aligned_alloc(align, size.max(1).next_multiple_of(align)) }
    };
    black_box(block)
}

fn allocate_or_give_up(size: usize, align: usize) -> *mut c_void {
    let block = allocate(size, align);
    if block.is_null() {
        // Does not return if this thread generates code, and no other thread runs C++.
        cloom_runtime::give_up_compiling(c"there is no memory left");
        std::process::abort();
    }
    block
}

extern "C" fn plain(size: usize) -> *mut c_void {
    allocate_or_give_up(size, 1)
}

extern "C" fn aligned(size: usize, align: usize) -> *mut c_void {
    allocate_or_give_up(size, align)
}

/// The second argument says that it returns null instead of throwing.
extern "C" fn may_be_null(size: usize, _nothrow: usize) -> *mut c_void {
    allocate(size, 1)
}

#[cfg(target_arch = "x86_64")]
macro_rules! jump {
    () => {
        "jmp {target}"
    };
}

#[cfg(target_arch = "aarch64")]
macro_rules! jump {
    () => {
        "b {target}"
    };
}

/// Defines a symbol of the driver's own, which is not exported, as a jump to a function.
macro_rules! replace {
    ($($name:literal = $target:path;)*) => { $(
        std::arch::global_asm!(
            ".text",
            concat!(".globl ", $name),
            concat!(".hidden ", $name),
            concat!(".type ", $name, ", @function"),
            concat!($name, ":"),
            jump!(),
            target = sym $target,
        );
    )* };
}

replace! {
    "__wrap__Znwm" = plain;
    "__wrap__Znam" = plain;
    "__wrap__ZnwmSt11align_val_t" = aligned;
    "__wrap__ZnwmRKSt9nothrow_t" = may_be_null;
}
