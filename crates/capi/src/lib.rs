//! The C interface: libcloom.so
