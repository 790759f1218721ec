//! How the driver is linked.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // Threads of the driver may run when a program closes the loader: its code stays in memory.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // Whatever another library exports under a name of ours, ours is meant.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
    // See src/exit.rs.
    println!("cargo:rustc-cdylib-link-arg=-Wl,--wrap=__cxa_atexit");
    // 100,000 relocations, most of them for LLVM's tables, are a bit each instead of 24 bytes: a process loads the
    // driver in less time.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,pack-relative-relocs");
}
