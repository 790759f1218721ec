//! Checks at compile time that each function here has the signature with which Cloom calls the driver's.

use crate::code::*;
use crate::graph::*;
use crate::peers::*;
use crate::texture::*;
use crate::transfer::*;
use crate::*;
use cloom_cuda_abi::signature::{Signature, agree, kinds};
use cloom_cuda_abi::*;
use std::ffi::{c_char, c_int, c_uint, c_void};

macro_rules! compare {
    (
        $($name:ident = $symbol:ident ($($arg:ty),*);)*
        $(@optional $($maybe:ident = $maybe_symbol:ident ($($maybe_arg:ty),*);)*)?
    ) => {
        $(compare!(@one $symbol $($arg)*);)*
        $($(compare!(@one $maybe_symbol $($maybe_arg)*);)*)?
    };
    (@one $symbol:ident $($arg:ty)*) => {
        const _: () = {
            type Called = unsafe extern "C" fn($($arg),*) -> Code;
            let own = kinds($symbol as unsafe extern "C" fn($(compare!(@any $arg)),*) -> Code);
            assert!(agree(Called::KINDS, own), stringify!($symbol));
        };
    };
    (@any $arg:ty) => { _ };
}

cloom_cuda_abi::functions!(compare);
cloom_cuda_abi::graph_functions!(compare);
