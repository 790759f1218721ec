//! The OpenCL C front end: preprocessor, parser, semantic analysis, lowering to IR
