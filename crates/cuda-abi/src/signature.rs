//! What a function of C takes and returns, as far as the caller can tell: how each argument is passed. Two declarations
//! of one function agree if their [kinds](Kind) are equal, whatever their types are called.

use std::ffi::c_void;

/// How a value is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// An integer of so many bytes, in an integer register. A sign does not matter.
    Int(usize),
    /// A floating-point number of so many bytes.
    Float(usize),
    /// An address of something of so many bytes; 0 for bytes and for what the caller does not know.
    Pointer(usize),
}

/// A type that functions of C take.
pub trait Passed {
    /// How.
    const KIND: Kind;
}

macro_rules! passed {
    ($($kind:ident: $($ty:ty)*;)*) => {$($(
        impl Passed for $ty {
            const KIND: Kind = Kind::$kind(size_of::<$ty>());
        }
    )*)*};
}

passed! {
    Int: i8 u8 i16 u16 i32 u32 i64 u64 isize usize;
    Float: f32 f64;
}

const fn pointer<T>() -> Kind {
    Kind::Pointer(if size_of::<T>() > size_of::<c_void>() { size_of::<T>() } else { 0 })
}

impl<T> Passed for *const T {
    const KIND: Kind = pointer::<T>();
}

impl<T> Passed for *mut T {
    const KIND: Kind = pointer::<T>();
}

/// A type of functions.
pub trait Signature {
    /// The result, then the arguments.
    const KINDS: &'static [Kind];
}

macro_rules! signatures {
    ($([$($arg:ident)*])*) => {$(
        impl<R: Passed, $($arg: Passed),*> Signature for unsafe extern "C" fn($($arg),*) -> R {
            const KINDS: &'static [Kind] = &[R::KIND, $($arg::KIND),*];
        }

        impl<R: Passed, $($arg: Passed),*> Signature for unsafe fn($($arg),*) -> R {
            const KINDS: &'static [Kind] = &[R::KIND, $($arg::KIND),*];
        }
    )*};
}

signatures! {
    [] [A] [A B] [A B C] [A B C D] [A B C D E] [A B C D E F] [A B C D E F G] [A B C D E F G H] [A B C D E F G H I]
    [A B C D E F G H I J] [A B C D E F G H I J K]
}

/// The kinds of a function's result and arguments.
pub const fn kinds<F: Signature + Copy>(_: F) -> &'static [Kind] {
    F::KINDS
}

/// Whether two functions are called alike; may be asked while a program is compiled.
pub const fn agree(a: &[Kind], b: &[Kind]) -> bool {
    if a.len() != b.len() {
        return false;
    }
    let mut i = 0;
    while i < a.len() {
        let same = match (a[i], b[i]) {
            (Kind::Int(a), Kind::Int(b)) | (Kind::Float(a), Kind::Float(b)) => a == b,
            (Kind::Pointer(a), Kind::Pointer(b)) => a == b || a == 0 || b == 0,
            _ => false,
        };
        if !same {
            return false;
        }
        i += 1;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_that_are_called_differently_do_not_agree() {
        type Plain = unsafe extern "C" fn(*mut *mut c_void, u32) -> u32;
        let agrees = |other: &[Kind]| agree(Plain::KINDS, other);
        assert!(agrees(<unsafe fn(*const usize, i32) -> u32 as Signature>::KINDS));
        assert!(agrees(<unsafe fn(*const c_void, i32) -> u32 as Signature>::KINDS));
        for other in [
            <unsafe fn(*const usize) -> u32 as Signature>::KINDS,
            <unsafe fn(*const usize, u64) -> u32 as Signature>::KINDS,
            <unsafe fn(usize, u32) -> u32 as Signature>::KINDS,
            <unsafe fn(*const [u64; 2], u32) -> u32 as Signature>::KINDS,
            <unsafe fn(*const usize, f32) -> u32 as Signature>::KINDS,
        ] {
            assert!(!agrees(other), "{other:?}");
        }
    }
}
