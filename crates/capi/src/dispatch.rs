//! Where the dispatch table is. Each handle begins with its address, and the table has functions that take handles; so
//! the first call of a process gives the address to the handles.

use std::ffi::c_void;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A slot of the dispatch table: the address of a function, null for interfaces of other operating systems.
#[repr(transparent)]
pub struct Slot(pub *const c_void);

// SAFETY: the address of a function, which all threads may call.
unsafe impl Sync for Slot {}
// SAFETY: the address of a function, which belongs to no thread.
unsafe impl Send for Slot {}

/// The address; null before the first call.
static TABLE: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());

/// The address of the table; null before the first call.
pub fn table() -> *mut c_void {
    TABLE.load(Ordering::Acquire)
}

/// Sets the address. Whether this is the first call.
pub fn set_table(table: &'static [Slot]) -> bool {
    let table = table.as_ptr().cast_mut().cast();
    TABLE.compare_exchange(ptr::null_mut(), table, Ordering::Release, Ordering::Relaxed).is_ok()
}
