//! The intermediate representation of Cloom.

pub mod entity;
pub mod types;
