//! [`Counting`]: an allocator that knows what each thread has asked of it, and what is in the memory that it gets back.

// An allocator cannot be written without it. This one hands every call on to the system's as it came.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::backtrace::Backtrace;
use std::cell::Cell;
use std::slice;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The system's allocator, with counters.
///
/// ```text
/// #[global_allocator]
/// static ALLOCATOR: Counting = Counting;
/// ```
///
/// Each thread has counters of its own, so tests that run at the same time do not see each other.
#[derive(Clone, Copy, Debug)]
pub struct Counting;

/// What a piece of work asked of the allocator.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Allocated {
    /// How often memory was asked for, or a piece of it was to grow or shrink.
    pub times: usize,
    /// How many bytes were asked for, and by how many pieces grew.
    pub bytes: usize,
    /// How many bytes were held at the most, beyond what was held at the start.
    pub peak: usize,
    /// How many bytes are held at the end, beyond that; negative where more was given back.
    pub held: isize,
}

thread_local! {
    // No value in here needs to be dropped and none is made lazily: that would allocate, or come too late.
    static TIMES: Cell<usize> = const { Cell::new(0) };
    static BYTES: Cell<usize> = const { Cell::new(0) };
    static LIVE: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// Does the work, and counts what this thread asks of the allocator meanwhile.
///
/// Counts nothing unless [`Counting`] is the program's allocator.
pub fn allocated<T>(work: impl FnOnce() -> T) -> (T, Allocated) {
    let (times, bytes, live) = (TIMES.get(), BYTES.get(), LIVE.get());
    PEAK.set(live);
    let value = work();
    let counted = Allocated {
        times: TIMES.get() - times,
        bytes: BYTES.get() - bytes,
        peak: PEAK.get().saturating_sub(live).unsigned_abs(),
        held: LIVE.get() - live,
    };
    (value, counted)
}

/// Texts that are looked for in memory that is given back. Empty unless a program looks for some.
static WATCHED: OnceLock<&'static [&'static str]> = OnceLock::new();

/// How many pieces of memory that were given back had one of them.
static FOUND: AtomicUsize = AtomicUsize::new(0);

/// Looks for these texts in all memory that any thread gives back from now on. [`given_back`] tells how often one was in it. New
/// memory is then filled with zeros. A program does this once, at its start.
///
/// # Panics
/// When it is done twice.
pub fn watch(texts: &'static [&'static str]) {
    WATCHED.set(texts).expect("it is done once");
}

/// How many pieces of memory with one of the watched texts were given back.
pub fn given_back() -> usize {
    FOUND.load(Ordering::SeqCst)
}

fn is_watching() -> bool {
    WATCHED.get().is_some()
}

/// Looks at memory that is given back.
fn look(memory: &[u8]) {
    thread_local!(static IS_LOOKING: Cell<bool> = const { Cell::new(false) });
    let texts = WATCHED.get().copied().unwrap_or_default();
    let Some(text) = texts.iter().find(|text| memory.windows(text.len()).any(|part| part == text.as_bytes())) else {
        return;
    };
    // What the report allocates is not looked at.
    if IS_LOOKING.replace(true) {
        return;
    }
    FOUND.fetch_add(1, Ordering::SeqCst);
    println!("`{text}` in {} bytes that are given back by\n{}", memory.len(), Backtrace::force_capture());
    IS_LOOKING.set(false);
}

fn count(times: usize, freed: usize, taken: usize) {
    let difference = taken.cast_signed() - freed.cast_signed();
    let live = LIVE.get() + difference;
    TIMES.set(TIMES.get() + times);
    BYTES.set(BYTES.get() + taken.saturating_sub(freed));
    LIVE.set(live);
    PEAK.set(PEAK.get().max(live));
}

// SAFETY: `System` is an allocator, all that it is given comes from our caller unchanged, and all that it gives goes back
// unchanged. Counting neither allocates nor panics: sums of bytes that are in memory at one time do not overflow.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(1, 0, layout.size());
        if is_watching() {
            // SAFETY: see above.
            return unsafe { System.alloc_zeroed(layout) };
        }
        // SAFETY: see above.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(1, 0, layout.size());
        // SAFETY: see above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(1, layout.size(), size);
        if is_watching() {
            // SAFETY: the caller says that `size` is not zero, and that the sum does not overflow. The old memory is given back
            // once, and the two pieces do not overlap.
            return unsafe {
                let new = System.alloc_zeroed(Layout::from_size_align_unchecked(size, layout.align()));
                if !new.is_null() {
                    new.copy_from_nonoverlapping(pointer, size.min(layout.size()));
                    self.dealloc(pointer, layout);
                    count(0, 0, layout.size());
                }
                new
            };
        }
        // SAFETY: see above.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(0, layout.size(), 0);
        if is_watching() {
            // SAFETY: the memory is the caller's until it is given back, and was filled with zeros at first.
            look(unsafe { slice::from_raw_parts(pointer, layout.size()) });
        }
        // SAFETY: see above.
        unsafe { System.dealloc(pointer, layout) }
    }
}
