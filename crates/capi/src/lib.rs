//! The C interface: libcloom.so.
//!
//! A call enters through [`entry`], the one list of entry points, inside of the [`guard`], which catches panics and
//! converts errors to codes. Pointers are the types of [`args`], handles those of [`handle`]; the functions of [`api`]
//! are safe code that calls the runtime. Nothing else in the workspace knows C types.

#![allow(unsafe_code, reason = "it has the C interface")]

mod api;
mod args;
mod callback;
mod cl;
mod dispatch;
mod entry;
mod eventfd;
mod exit;
mod guard;
mod handle;
mod info;
mod interrupt;
mod platform;
mod reserve;
mod wrapped;
