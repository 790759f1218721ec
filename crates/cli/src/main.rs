//! The `cloom` program.
fn main() {}
