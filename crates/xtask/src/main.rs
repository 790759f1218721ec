//! The habits of the workspace.
fn main() {}
