//! What a compiled kernel is and how it is encoded
