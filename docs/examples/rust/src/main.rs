//! Reads handwritten digits with a model that Kiln has compiled. Usage: read_digits FOLDER, which has held_out.pgm and held_out.txt.

/// The C functions of digits.h. A run keeps no state, so every thread may have its own `Model`.
mod digits {
    use std::alloc::{alloc, dealloc, handle_alloc_error, Layout};
    use std::ffi::{c_void, CStr};
    use std::os::raw::c_char;

    #[repr(C)]
    struct Inputs {
        image: *const f32, // f32[1,1,8,8]
    }
    #[repr(C)]
    struct Outputs {
        probabilities: *mut f32, // f32[1,10]
    }
    extern "C" {
        fn digits_workspace_size() -> usize;
        fn digits_run(inputs: *const Inputs, outputs: *const Outputs, workspace: *mut c_void, context: *const c_void) -> i32;
        fn digits_target() -> *const c_char;
    }

    const ALIGNMENT: usize = 64; // KILN_ALIGNMENT

    /// The memory that a run works in.
    pub struct Model {
        workspace: *mut u8,
        layout: Layout,
    }

    impl Model {
        pub fn new() -> Self {
            let size = unsafe { digits_workspace_size() };
            let layout = Layout::from_size_align(size.max(1), ALIGNMENT).expect("the workspace's size");
            let workspace = unsafe { alloc(layout) };
            if workspace.is_null() {
                handle_alloc_error(layout);
            }
            Model { workspace, layout }
        }

        /// The probability of each digit, or the number of the status (kiln_status in digits.h).
        pub fn run(&mut self, image: &[f32; 64]) -> Result<[f32; 10], i32> {
            let mut probabilities = [0f32; 10];
            let inputs = Inputs { image: image.as_ptr() };
            let outputs = Outputs { probabilities: probabilities.as_mut_ptr() };
            match unsafe { digits_run(&inputs, &outputs, self.workspace.cast(), std::ptr::null()) } {
                0 => Ok(probabilities),
                status => Err(status),
            }
        }
    }

    impl Drop for Model {
        fn drop(&mut self) {
            unsafe { dealloc(self.workspace, self.layout) }
        }
    }

    /// The CPU that the model's code is for; None if this one cannot run it.
    pub fn target() -> Option<&'static str> {
        let name = unsafe { digits_target() };
        (!name.is_null()).then(|| unsafe { CStr::from_ptr(name) }.to_str().expect("ASCII"))
    }
}

fn read(folder: &str) -> std::io::Result<(Vec<[f32; 64]>, Vec<usize>)> {
    let file = std::fs::read(format!("{folder}/held_out.pgm"))?;
    let labels = std::fs::read_to_string(format!("{folder}/held_out.txt"))?;
    // The header is one line; the pixels of 8x8 images follow.
    let start = file.iter().position(|&byte| byte == b'\n').map_or(file.len(), |at| at + 1);
    let images = file[start..].chunks_exact(64).map(|bytes| std::array::from_fn(|i| bytes[i] as f32));
    Ok((images.collect(), labels.lines().filter_map(|line| line.parse().ok()).collect()))
}

fn main() {
    let folder = std::env::args().nth(1).unwrap_or(".".into());
    let (images, labels) = read(&folder).unwrap_or_else(|error| {
        eprintln!("read_digits: {folder}: {error}");
        std::process::exit(1);
    });
    let mut model = digits::Model::new();
    let mut right = 0;
    for (image, label) in images.iter().zip(&labels) {
        let probabilities = model.run(image).unwrap_or_else(|status| panic!("the model ends with status {status}"));
        let best = (0..10).max_by(|&a, &b| probabilities[a].total_cmp(&probabilities[b])).unwrap();
        right += (best == *label) as usize;
    }
    println!("{right} of {} held-out digits are right, by code for {}", labels.len(), digits::target().unwrap_or("no CPU"));
}
