//! `--save DIR`: writes the binary content of results to new files with safe names. Existing files are never overwritten.

use std::collections::HashMap;
use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use mcpwire_hub::files::check_link;
use mcpwire_tokio::protocol::{Base64Error, ContentBlock, ResourceContents};

use crate::failure::Failure;
use crate::text;

/// Maximum number of file names to try if the first name is taken: `name.png`, `name-2.png` and so on.
const MOST_TWINS: usize = 10_000;
/// Maximum length of the name of a saved file before an extension or number is added, in bytes. File systems allow 255.
const LONGEST_NAME: usize = 80;

/// A file that `--save` has written.
#[derive(Debug)]
pub(crate) struct Saved {
    pub(crate) path: PathBuf,
    pub(crate) mime_type: String,
    pub(crate) length: u64,
}

/// The files that `--save` has written for one result, and the failures for content that could not be saved.
#[derive(Debug, Default)]
pub(crate) struct Saves {
    pub(crate) saved: Vec<Saved>,
    pub(crate) failures: Vec<Failure>,
}

/// Saves the images, audio and binary resources of a result in `directory`, or nothing if `directory` is `None`. Invalid base64
/// in one block does not keep the other blocks from being saved.
pub(crate) fn blocks<'b>(directory: Option<&Path>, blocks: impl IntoIterator<Item = &'b ContentBlock>) -> Saves {
    let Some(mut folder) = directory.map(Folder::new) else { return Saves::default() };
    for block in blocks {
        match block {
            ContentBlock::Image(image) => folder.save("image", &image.mime_type, || image.bytes()),
            ContentBlock::Audio(audio) => folder.save("audio", &audio.mime_type, || audio.bytes()),
            ContentBlock::Resource(embedded) => folder.save_resource(&embedded.resource),
            _ => {}
        }
    }
    folder.saves
}

/// Saves the binary contents of resources in `directory`, or nothing if `directory` is `None`.
pub(crate) fn contents(directory: Option<&Path>, contents: &[ResourceContents]) -> Saves {
    let Some(mut folder) = directory.map(Folder::new) else { return Saves::default() };
    for contents in contents {
        folder.save_resource(contents);
    }
    folder.saves
}

/// The directory of `--save DIR`. The directory is created with the first file.
struct Folder<'a> {
    directory: &'a Path,
    saves: Saves,
    /// The next number to try for each file name. Without these numbers, saving many files of the same name would take
    /// quadratic time.
    next: HashMap<String, usize>,
    /// Whether writing to the directory has failed. After that, no more files are written, so that the failure is reported only
    /// once.
    is_unusable: bool,
}

impl<'a> Folder<'a> {
    fn new(directory: &'a Path) -> Self {
        Self { directory, saves: Saves::default(), next: HashMap::new(), is_unusable: false }
    }

    fn save_resource(&mut self, resource: &ResourceContents) {
        if resource.blob.is_none() {
            return;
        }
        // The file name is the last segment of the path of the URI, without query and fragment.
        let path = resource.uri.split(['?', '#']).next().unwrap_or_default();
        let last = path.trim_end_matches('/').rsplit(['/', '\\', ':']).next().unwrap_or_default();
        let stem = if last.is_empty() { "resource" } else { last };
        self.save(stem, resource.mime_type.as_deref().unwrap_or_default(), || resource.bytes());
    }

    fn save(&mut self, name: &str, mime_type: &str, bytes: impl FnOnce() -> Result<Vec<u8>, Base64Error>) {
        if self.is_unusable {
            return;
        }
        let Ok(bytes) = bytes() else {
            return self.saves.failures.push(Failure::not_base64(&text::name(name)));
        };
        match self.write(safe_name(name, mime_type), &bytes) {
            Ok(path) => {
                let saved = Saved { path, mime_type: mime_type.to_owned(), length: bytes.len() as u64 };
                self.saves.saved.push(saved);
            }
            Err(error) => {
                self.is_unusable = true;
                self.saves.failures.push(Failure::not_saved("save", self.directory, &error));
            }
        }
    }

    /// Writes `bytes` to a new file, and returns its path. Adds a number to `name` if a file of that name exists already.
    fn write(&mut self, name: String, bytes: &[u8]) -> io::Result<PathBuf> {
        check_link(self.directory)?;
        fs::create_dir_all(self.directory)?;
        let (stem, extension) = name.rsplit_once('.').map_or((&*name, ""), |(stem, ending)| (stem, ending));
        let dot = if extension.is_empty() { "" } else { "." };
        let first = self.next.get(&name).copied().unwrap_or(1);
        for number in first..first + MOST_TWINS {
            let candidate = if number == 1 { name.clone() } else { format!("{stem}-{number}{dot}{extension}") };
            let path = self.directory.join(candidate);
            // `create_new` neither overwrites a file nor follows a symbolic link.
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    file.write_all(bytes)?;
                    self.next.insert(name, number + 1);
                    return Ok(path);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(error),
            }
        }
        Err(io::Error::new(ErrorKind::AlreadyExists, format!("{MOST_TWINS} files have the name {name}")))
    }
}

/// Returns a safe file name, which consists of ASCII letters, digits, `_`, `-` and dots. If `name` has no extension, adds the
/// usual extension for the media type.
fn safe_name(name: &str, mime_type: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let mut safe: String = name.chars().map(safe).take(LONGEST_NAME).collect();
    // A dot at the beginning hides a file, a dash makes it look like an option, and `..` is the parent directory.
    let begin = safe.len() - safe.trim_start_matches(['.', '-']).len();
    safe.replace_range(..begin, "");
    safe.truncate(safe.trim_end_matches('.').len());
    if safe.is_empty() {
        safe.push_str("file");
    }
    let stem = safe.split('.').next().unwrap_or_default().to_ascii_uppercase();
    let device = matches!(&*stem, "CON" | "PRN" | "AUX" | "NUL")
        || stem.len() == 4 && (stem.starts_with("COM") || stem.starts_with("LPT"));
    if device {
        safe.insert(0, '_');
    }
    let has_ending = safe.rsplit_once('.').is_some_and(|(_, ending)| (1..=5).contains(&ending.len()));
    if !has_ending {
        safe.push('.');
        safe.push_str(ending(mime_type));
    }
    safe
}

/// Returns the usual file extension for a media type, such as `png` for `image/png`. For unknown media types, returns `bin`.
fn ending(mime_type: &str) -> &'static str {
    /// The endings that are also the name of their format in a media type.
    const SAME: [&str; 18] = [
        "png", "gif", "webp", "bmp", "tiff", "avif", "wav", "mp3", "ogg", "flac", "aac", "webm", "mp4", "pdf", "zip",
        "json", "html", "csv",
    ];
    let essence = mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match essence.split_once('/').unwrap_or_default() {
        ("image", "jpeg" | "jpg") => "jpg",
        ("image", "svg+xml") => "svg",
        ("audio", "x-wav" | "wave") => "wav",
        ("audio", "mpeg") => "mp3",
        ("audio", "mp4") => "m4a",
        ("application", "gzip") => "gz",
        ("text", "plain") => "txt",
        ("text", "markdown") => "md",
        (_, format) => SAME.into_iter().find(|ending| *ending == format).unwrap_or("bin"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_safe() {
        for (name, mime_type, safe) in [
            ("image", "image/png", "image.png"),
            ("image", "Image/JPEG; q=1", "image.jpg"),
            ("image", "application/x-surprise", "image.bin"),
            ("report.pdf", "application/octet-stream", "report.pdf"),
            ("../../etc/passwd", "", "_.._etc_passwd.bin"),
            ("..", "", "file.bin"),
            ("", "", "file.bin"),
            (".bashrc", "", "bashrc.bin"),
            ("-rf", "", "rf.bin"),
            ("a/b\\c:d\u{0}\u{1b}[0m\n", "image/png", "a_b_c_d___0m_.png"),
            ("grüße.txt", "", "gr__e.txt"),
            ("nul.txt", "", "_nul.txt"),
            ("COM1", "", "_COM1.bin"),
            ("archive.verylong", "application/zip", "archive.verylong.zip"),
            ("trailing...", "image/gif", "trailing.gif"),
        ] {
            assert_eq!(safe_name(name, mime_type), safe, "{name:?}");
        }
        assert!(safe_name(&"x".repeat(10_000), "image/png").len() <= LONGEST_NAME + 6);
    }

    #[test]
    fn many_files_of_one_name_are_counted_on() {
        let directory = tempfile::tempdir().unwrap();
        let mut folder = Folder::new(directory.path());
        for _ in 0..500 {
            folder.save("image", "image/png", || Ok(Vec::new()));
        }
        assert_eq!((folder.saves.saved.len(), folder.saves.failures.len()), (500, 0));
        assert_eq!(folder.next["image.png"], 501, "so the next one tries one name");
        assert!(directory.path().join("image-500.png").exists());
    }
}
