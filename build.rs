//! Compiles the shim against the librdkafka that `rdkafka-sys` built: its headers and its `config.h`, so that the
//! layout of the private structs is right by construction.
use std::env;
use std::path::{Path, PathBuf};
use std::process;

const SHIM: [&str; 3] = [
    "src/plugin/shim.c",
    "src/plugin/shim_calls.c",
    "src/plugin/shim_flat.c",
];
const HEADERS: [&str; 2] = ["src/plugin/shim.h", "src/plugin/shim_int.h"];

fn main() {
    for file in SHIM.iter().chain(&HEADERS) {
        println!("cargo::rerun-if-changed={file}");
    }
    let root = librdkafka_root();
    let mut shim = cc::Build::new();
    shim.files(SHIM).include(root.join("src")).warnings(false);
    shim.includes(includes("DEP_Z_INCLUDE"));
    if built_with_ssl(&root) {
        require_openssl();
        shim.includes(includes("DEP_OPENSSL_INCLUDE"));
    }
    if let Err(error) = shim.try_compile("rdkafka_assignor_shim") {
        stop(&format!("the shim does not compile: {error}"));
    }
}

/// Where `rdkafka-sys` built librdkafka; it says so only if it did, and only to direct dependents.
fn librdkafka_root() -> PathBuf {
    let Some(root) = env::var_os("DEP_RDKAFKA_ROOT").map(PathBuf::from) else {
        stop(
            "rdkafka-assignor needs the private headers and symbols of the librdkafka that rdkafka-sys builds by \
             default: disable the features `dynamic-linking` and `cmake-build` of rdkafka and rdkafka-sys",
        );
    };
    if !root.join("src/rdkafka_int.h").exists() || !root.join("config.h").exists() {
        stop(
            "rdkafka-assignor needs librdkafka's private headers and config.h, which this prebuilt librdkafka lacks: \
             let rdkafka-sys build it (no feature `static-external`)",
        );
    }
    root
}

fn built_with_ssl(root: &Path) -> bool {
    println!(
        "cargo::rerun-if-changed={}",
        root.join("config.h").display()
    );
    std::fs::read_to_string(root.join("config.h")).is_ok_and(|config| {
        config
            .lines()
            .any(|line| line.trim_end() == "#define WITH_SSL 1")
    })
}

/// The headers must be those of the OpenSSL that librdkafka was built with; layouts depend on its version.
fn require_openssl() {
    if env::var_os("DEP_OPENSSL_VERSION_NUMBER").is_none() {
        stop(
            "librdkafka is built with SSL, and its private headers need the same OpenSSL: enable the feature `ssl`, \
             `ssl-vendored` or `sasl` of rdkafka-assignor, not only that of rdkafka",
        );
    }
}

/// Where a library's headers are, as its `-sys` crate tells in `variable`; nothing if they are on the compiler's own
/// path.
fn includes(variable: &str) -> Vec<PathBuf> {
    let paths = env::var(variable).unwrap_or_default();
    let paths = paths.split(',').filter(|path| !path.is_empty());
    paths.map(PathBuf::from).collect()
}

fn stop(sentence: &str) -> ! {
    println!("cargo::error={sentence}");
    process::exit(1);
}
