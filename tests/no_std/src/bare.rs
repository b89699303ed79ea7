//! What std would have brought: an allocator, an end for panics, a way to print. All of it from the C library.
//!
//! The panic handler is the proof's teeth. std has one too, and a program may have only one: as soon as any crate below
//! this one links std, the build ends with "found duplicate lang item `panic_impl`", and names the crate. (To see it,
//! add `serde_json = { version = "1", features = ["std"] }` to the dependencies.)

use core::alloc::{GlobalAlloc, Layout};
use core::ffi::{c_int, c_void};
use core::fmt;
use core::panic::PanicInfo;

#[link(name = "c")]
unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
    fn abort() -> !;
    fn write(descriptor: c_int, bytes: *const c_void, length: usize) -> isize;
}

struct Malloc;

/// What `malloc` aligns to on every 64-bit platform; nothing in the engine needs more.
const ALIGNMENT: usize = 16;

// SAFETY: `malloc` gives blocks of the size asked for, aligned to `ALIGNMENT`, or null; more is refused with null, too.
unsafe impl GlobalAlloc for Malloc {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() > ALIGNMENT {
            return core::ptr::null_mut();
        }
        // SAFETY: `malloc` may be called with any size.
        unsafe { malloc(layout.size()).cast() }
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        // SAFETY: the caller hands back a block of `alloc`, which is one of `malloc`.
        unsafe { free(block.cast()) }
    }
}

#[global_allocator]
static ALLOCATOR: Malloc = Malloc;

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    let _ = fmt::write(&mut Stdout, format_args!("{info}\n"));
    // SAFETY: `abort` may be called at any time.
    unsafe { abort() }
}

/// The `alloc` that comes with the compiler was built to unwind and asks for these two by name. With `panic = "abort"`
/// neither is ever called.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    // SAFETY: `abort` may be called at any time.
    unsafe { abort() }
}

/// Descriptor 1. What cannot be written is lost.
pub(crate) struct Stdout;

impl fmt::Write for Stdout {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        // SAFETY: the pointer and the length are those of one string.
        let written = unsafe { write(1, text.as_ptr().cast(), text.len()) };
        if written < 0 { Err(fmt::Error) } else { Ok(()) }
    }
}
