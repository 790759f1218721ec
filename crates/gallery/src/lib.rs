//! The classic OpenCL programs with their references, on the standard interface
