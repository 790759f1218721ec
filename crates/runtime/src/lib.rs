//! OpenCL's objects and rules in safe Rust
