//! Linker options of the driver.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    // The name with the number of its interface, by which programs that link it ask for it.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,libcloom.so.{}", env!("CARGO_PKG_VERSION_MAJOR"));
    // Threads of the driver may run when a program unloads the loader: the driver's code must stay mapped.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-z,nodelete");
    // References in the driver bind to its own symbols, even if another library exports the same names.
    println!("cargo:rustc-cdylib-link-arg=-Wl,-Bsymbolic");
    println!("cargo:rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
    // See src/exit.rs.
    println!("cargo:rustc-cdylib-link-arg=-Wl,--wrap=__cxa_atexit");
    // See src/wrapped.rs.
    let allocation = ["malloc", "calloc", "realloc", "posix_memalign", "free"];
    let throwing = ["_Znwm", "_Znam", "_ZnwmSt11align_val_t"];
    let returning_null = ["_ZnwmRKSt9nothrow_t", "_ZnamRKSt9nothrow_t", "_ZnwmSt11align_val_tRKSt9nothrow_t"];
    for name in allocation.iter().chain(&throwing).chain(&returning_null) {
        println!("cargo:rustc-cdylib-link-arg=-Wl,--wrap={name}");
    }
}
