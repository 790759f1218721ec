//! From IR to object code through LLVM
