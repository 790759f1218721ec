//! The OpenCL C built-in functions: their table and their sources
