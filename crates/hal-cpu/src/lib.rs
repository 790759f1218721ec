//! The CPU device: thread pool and code loader
