//! Compiles the model when it changes, and links the library. KILN names the compiler if it is not in PATH.
use std::{env, path::PathBuf, process::Command};

fn main() {
    let out = PathBuf::from(env::var("OUT_DIR").unwrap());
    let model = PathBuf::from(env::var("CARGO_MANIFEST_DIR").unwrap()).join("../digits/digits.onnx");
    let kiln = env::var("KILN").unwrap_or("kiln".into());
    let status = Command::new(&kiln).arg(&model).args(["--dim", "batch=1", "-q", "-o"]).arg(&out).status();
    assert!(status.expect("kiln does not start").success(), "{kiln} failed");
    println!("cargo:rerun-if-changed={}", model.display());
    println!("cargo:rerun-if-env-changed=KILN");
    println!("cargo:rustc-link-search=native={}", out.display());
    println!("cargo:rustc-link-lib=static=digits");
    println!("cargo:rustc-link-lib=m");
}
