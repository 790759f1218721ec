//! Functions of the C library that the driver calls through replacements: allocation.
//!
//! The linker replaces the driver's references (`--wrap`, in the build script), and nothing else: neither those of the
//! application nor those of other libraries, nor what the C library calls itself. The C++ library is linked statically
//! and thus a part of the driver.
//!
//! * `malloc` and its like, which Rust's allocator and LLVM call, fall back to the [`reserve`](crate::reserve). What is
//!   allocated so is freed by the driver as well.
//! * `operator new` of C++ throws if there is no memory, LLVM does not catch, and the process would end. Here the
//!   thread that generates code is given up instead, and the compilation fails. It does not use the reserve, which is
//!   for ending a compilation and not for going on with it.

use crate::reserve::RESERVE;
use std::ffi::c_void;
use std::hint::black_box;
use std::ptr;
use std::time::Duration;

/// What must be free for calls to go on.
const NEEDED: usize = 1 << 20;

/// How long code generation waits for memory before it gives up.
const WAITS: [Duration; 3] = [Duration::from_millis(1), Duration::from_millis(4), Duration::from_millis(20)];

/// The functions that are replaced.
#[cfg(not(test))]
mod real {
    use std::ffi::c_void;

    unsafe extern "C" {
        #[link_name = "__real_malloc"]
        pub fn malloc(size: usize) -> *mut c_void;
        #[link_name = "__real_calloc"]
        pub fn calloc(count: usize, size: usize) -> *mut c_void;
        #[link_name = "__real_realloc"]
        pub fn realloc(block: *mut c_void, size: usize) -> *mut c_void;
        #[link_name = "__real_posix_memalign"]
        pub fn posix_memalign(block: *mut *mut c_void, align: usize, size: usize) -> i32;
        #[link_name = "__real_free"]
        pub fn free(block: *mut c_void);
    }
}
/// The test program is not linked so.
#[cfg(test)]
use libc as real;

/// Whether the C library has memory.
fn system_has_memory() -> bool {
    // SAFETY: an allocation that is freed at once.
    unsafe {
        let block = black_box(real::malloc(NEEDED));
        real::free(block);
        !block.is_null()
    }
}

/// Whether the reserve is in use, and the system still has no memory: calls should not begin anything.
pub fn is_short() -> bool {
    // The first test is a load; only while the reserve is in use does each call try the system.
    RESERVE.is_in_use() && !system_has_memory()
}

extern "C" fn malloc(size: usize) -> *mut c_void {
    // SAFETY: allocates.
    let block = unsafe { real::malloc(size) };
    if block.is_null() { RESERVE.take(size, 16).cast() } else { block }
}

extern "C" fn calloc(count: usize, size: usize) -> *mut c_void {
    // SAFETY: allocates.
    let block = unsafe { real::calloc(count, size) };
    if !block.is_null() {
        return block;
    }
    let Some(bytes) = count.checked_mul(size) else { return ptr::null_mut() };
    // A block of the reserve may have been used before: it is not zero.
    let block = RESERVE.take(bytes, 16);
    if !block.is_null() {
        // SAFETY: a block of at least so many bytes.
        unsafe { block.write_bytes(0, bytes) };
    }
    block.cast()
}

/// # Safety
/// The conditions of `realloc`.
unsafe extern "C" fn realloc(block: *mut c_void, size: usize) -> *mut c_void {
    let is_reserve = RESERVE.owns(block.cast());
    if !is_reserve {
        // SAFETY: it is the C library's.
        let larger = unsafe { real::realloc(block, size) };
        // A block that was null is a new one; size 0 frees.
        if !larger.is_null() || size == 0 {
            return larger;
        }
        let other = RESERVE.take(size, 16);
        if !other.is_null() && !block.is_null() {
            // The C library could not make it larger than it is, so that what it has fits.
            // SAFETY: the block is alive, and has at least as many bytes as are copied.
            unsafe {
                let old = libc::malloc_usable_size(block);
                ptr::copy_nonoverlapping(block.cast::<u8>(), other, old.min(size));
                real::free(block);
            }
        }
        return other.cast();
    }
    let old = RESERVE.size(block.cast());
    // It shrinks in place, unless a small rest would keep a large block of the reserve.
    if size > 0 && size <= old && size > old / 4 {
        return block;
    }
    let other = malloc(size);
    if !other.is_null() {
        // SAFETY: two blocks of at least so many bytes.
        unsafe { ptr::copy_nonoverlapping(block.cast::<u8>(), other.cast(), old.min(size)) };
        RESERVE.give(block.cast());
    }
    other
}

/// # Safety
/// The conditions of `posix_memalign`.
unsafe extern "C" fn posix_memalign(place: *mut *mut c_void, align: usize, size: usize) -> i32 {
    // SAFETY: `place` is valid for writing a pointer, as this function's caller promises.
    let code = unsafe { real::posix_memalign(place, align, size) };
    // Success, or arguments that are wrong: the reserve helps with neither.
    if code != libc::ENOMEM {
        return code;
    }
    let block = RESERVE.take(size, align);
    if !block.is_null() {
        // SAFETY: a place for the address.
        unsafe { place.write(block.cast()) };
    }
    if block.is_null() { code } else { 0 }
}

/// # Safety
/// The conditions of `free`.
unsafe extern "C" fn free(block: *mut c_void) {
    if RESERVE.owns(block.cast()) {
        RESERVE.give(block.cast());
    } else {
        // SAFETY: it is the C library's.
        unsafe { real::free(block) };
    }
}

// The forms of `operator new` that return null. The C++ library's own call the forms above and catch what these throw:
// as references in the C++ library are replaced as well, they would call each other without end.

/// `operator new(size, nothrow)`, also of arrays.
extern "C" fn new_or_null(size: usize) -> *mut c_void {
    // Size 0 gets an address of its own.
    // SAFETY: allocates.
    unsafe { real::malloc(size.max(1)) }
}

/// `operator new(size, align, nothrow)`, also of arrays, which calls it.
extern "C" fn aligned_new_or_null(size: usize, align: usize) -> *mut c_void {
    let mut block = ptr::null_mut();
    // The C library takes no smaller alignment than that of an address.
    let align = align.max(size_of::<*mut c_void>());
    // SAFETY: allocates; there is a place for the address.
    let code = unsafe { real::posix_memalign(&mut block, align, size.max(1)) };
    if code == 0 { block } else { ptr::null_mut() }
}

fn or_give_up(allocate: impl Fn() -> *mut c_void) -> *mut c_void {
    let mut block = allocate();
    for wait in WAITS {
        if !block.is_null() {
            break;
        }
        // Other threads, or other processes, may give some back.
        std::thread::sleep(wait);
        block = allocate();
    }
    if block.is_null() {
        // Does not return if this thread generates code, and no other thread runs C++.
        cloom_runtime::give_up_compiling(c"there is no memory left");
        std::process::abort();
    }
    block
}

/// `operator new(size)`, also of arrays.
extern "C" fn new_or_give_up(size: usize) -> *mut c_void {
    or_give_up(|| new_or_null(size))
}

/// `operator new(size, align)`, also of arrays, which calls it.
extern "C" fn aligned_new_or_give_up(size: usize, align: usize) -> *mut c_void {
    or_give_up(|| aligned_new_or_null(size, align))
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
    "__wrap_malloc" = malloc;
    "__wrap_calloc" = calloc;
    "__wrap_realloc" = realloc;
    "__wrap_posix_memalign" = posix_memalign;
    "__wrap_free" = free;
    "__wrap__Znwm" = new_or_give_up;
    "__wrap__Znam" = new_or_give_up;
    "__wrap__ZnwmSt11align_val_t" = aligned_new_or_give_up;
    "__wrap__ZnwmRKSt9nothrow_t" = new_or_null;
    "__wrap__ZnamRKSt9nothrow_t" = new_or_null;
    "__wrap__ZnwmSt11align_val_tRKSt9nothrow_t" = aligned_new_or_null;
}
