//! `--save DIR`: what is no text becomes files, under names that are safe, next to what is there already.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use mcpwire_blocking::protocol::{ContentBlock, ResourceContents};

use crate::failure::Failure;
use crate::{base64, text};

/// A name that is taken gets a number; a directory with so many of them is no place to save to.
const MOST_TWINS: usize = 10_000;
/// Longer names are cut: file systems take 255 bytes, and people less.
const LONGEST_NAME: usize = 80;

/// A file that was written.
#[derive(Debug)]
pub(crate) struct Saved {
    pub(crate) path: PathBuf,
    pub(crate) mime_type: String,
    pub(crate) length: u64,
}

/// A directory to save to; made when there is something to save.
pub(crate) struct Save<'a> {
    directory: &'a Path,
    saved: Vec<Saved>,
}

impl<'a> Save<'a> {
    pub(crate) fn to(directory: &'a Path) -> Self {
        Self { directory, saved: Vec::new() }
    }

    /// Saves what a result has that is no text, and says which files that made.
    pub(crate) fn blocks<'b>(
        mut self,
        blocks: impl IntoIterator<Item = &'b ContentBlock>,
    ) -> Result<Vec<Saved>, Failure> {
        for block in blocks {
            match block {
                ContentBlock::Image(image) => self.file("image", &image.mime_type, &image.data)?,
                ContentBlock::Audio(audio) => self.file("audio", &audio.mime_type, &audio.data)?,
                ContentBlock::Resource(embedded) => self.resource(&embedded.resource)?,
                _ => {}
            }
        }
        Ok(self.saved)
    }

    /// The same for what was read.
    pub(crate) fn contents(mut self, contents: &[ResourceContents]) -> Result<Vec<Saved>, Failure> {
        contents.iter().try_for_each(|contents| self.resource(contents))?;
        Ok(self.saved)
    }

    fn resource(&mut self, resource: &ResourceContents) -> Result<(), Failure> {
        let Some(blob) = &resource.blob else { return Ok(()) };
        // The last part of the address, without what a query or a fragment adds.
        let path = resource.uri.split(['?', '#']).next().unwrap_or_default();
        let last = path.trim_end_matches('/').rsplit(['/', '\\', ':']).next().unwrap_or_default();
        let stem = if last.is_empty() { "resource" } else { last };
        self.file(stem, resource.mime_type.as_deref().unwrap_or_default(), blob)
    }

    fn file(&mut self, name: &str, mime_type: &str, data: &str) -> Result<(), Failure> {
        let bytes = base64::decode(data).ok_or_else(|| Failure::not_base64(&text::line(name)))?;
        let written = fs::create_dir_all(self.directory)
            .and_then(|()| write_new(self.directory, &safe_name(name, mime_type), &bytes));
        let path = written.map_err(|error| Failure::not_saved(self.directory, &error))?;
        self.saved.push(Saved { path, mime_type: mime_type.to_owned(), length: bytes.len() as u64 });
        Ok(())
    }
}

/// Writes a file that was not there, under the name or one with a number.
fn write_new(directory: &Path, name: &str, bytes: &[u8]) -> io::Result<PathBuf> {
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    for number in 1..=MOST_TWINS {
        let dot = if extension.is_empty() { "" } else { "." };
        let name = if number == 1 { name.to_owned() } else { format!("{stem}-{number}{dot}{extension}") };
        let path = directory.join(name);
        // Neither a file that is there nor one that a link points to is touched.
        match OpenOptions::new().write(true).create_new(true).open(&path) {
            Ok(mut file) => return file.write_all(bytes).map(|()| path),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
    Err(io::Error::new(ErrorKind::AlreadyExists, format!("{MOST_TWINS} files are called like {name}")))
}

/// A name of letters, digits, `_`, `-` and dots, with an ending: that of the media type if it has none.
fn safe_name(name: &str, mime_type: &str) -> String {
    let safe = |c: char| if c.is_ascii_alphanumeric() || "._-".contains(c) { c } else { '_' };
    let mut safe: String = name.chars().map(safe).take(LONGEST_NAME).collect();
    // Names that begin with a dot are hidden, those with a dash look like options, and `..` is no name.
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

/// What files of a media type end with.
fn ending(mime_type: &str) -> &'static str {
    let essence = mime_type.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    match &*essence {
        "image/png" => "png",
        "image/jpeg" | "image/jpg" => "jpg",
        "image/gif" => "gif",
        "image/webp" => "webp",
        "image/svg+xml" => "svg",
        "image/bmp" => "bmp",
        "image/tiff" => "tiff",
        "image/avif" => "avif",
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/ogg" => "ogg",
        "audio/flac" => "flac",
        "audio/aac" => "aac",
        "audio/mp4" => "m4a",
        "audio/webm" | "video/webm" => "webm",
        "video/mp4" => "mp4",
        "application/pdf" => "pdf",
        "application/zip" => "zip",
        "application/gzip" => "gz",
        "application/json" => "json",
        "text/plain" => "txt",
        "text/html" => "html",
        "text/csv" => "csv",
        "text/markdown" => "md",
        _ => "bin",
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
}
