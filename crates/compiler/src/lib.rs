//! Source, options and target to artifact: the one pipeline
