//! HTTP/2 as bytes (RFC 9113), as far as a flood needs it.

use std::io::{self, Read};

pub(super) const DATA: u8 = 0;
pub(super) const HEADERS: u8 = 1;
pub(super) const PRIORITY: u8 = 2;
pub(super) const SETTINGS: u8 = 4;
pub(super) const PING: u8 = 6;
pub(super) const GOAWAY: u8 = 7;
pub(super) const WINDOW_UPDATE: u8 = 8;
pub(super) const CONTINUATION: u8 = 9;

pub(super) const ACK: u8 = 1;
pub(super) const END_HEADERS: u8 = 4;
pub(super) const PADDED: u8 = 8;

const PREFACE: usize = 24;

pub(super) fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&length[1..], &[kind, flags], &stream.to_be_bytes(), payload].concat()
}

/// What a server sends first: its settings, and that it has those of the client.
pub(super) fn greeting() -> Vec<u8> {
    [frame(SETTINGS, 0, 0, &[]), frame(SETTINGS, ACK, 0, &[])].concat()
}

/// A header as it stands, with a name of HPACK's table (RFC 7541, 6.2.2).
pub(super) fn header(name: u8, value: &str) -> Vec<u8> {
    let length = u8::try_from(value.len()).unwrap();
    let name = if name < 15 { vec![name] } else { vec![15, name - 15] };
    [&name, &[length][..], value.as_bytes()].concat()
}

/// How many bytes of a window these frames take.
pub(super) fn length_of_data(mut frames: &[u8]) -> u64 {
    let mut sum = 0;
    while let Some((kind, _, payload, rest)) = next(frames) {
        sum += if kind == DATA { payload.len() as u64 } else { 0 };
        frames = rest;
    }
    sum
}

/// The kind, stream and payload of the first frame, and what follows it.
fn next(frames: &[u8]) -> Option<(u8, u32, &[u8], &[u8])> {
    let (head, rest) = frames.split_at_checked(9)?;
    let length = u32::from_be_bytes([0, head[0], head[1], head[2]]);
    let (payload, rest) = rest.split_at_checked(length as usize)?;
    Some((head[3], u32::from_be_bytes([head[5], head[6], head[7], head[8]]), payload, rest))
}

/// How much the client lets the server send of a body. Its first settings say what a stream may have; what it adds for the stream
/// is what counts.
#[derive(Default)]
pub(super) struct Window {
    left: u64,
    /// What was received, from the first frame on that is not whole.
    bytes: Vec<u8>,
    first_request: Option<u32>,
}

impl Window {
    /// Reads up to the headers of the first request. The number of its stream.
    pub(super) fn first_request(&mut self, reader: &mut impl Read) -> io::Result<u32> {
        reader.read_exact(&mut [0; PREFACE])?;
        loop {
            if let Some(stream) = self.first_request {
                return Ok(stream);
            }
            let mut bytes = [0; 4096];
            match reader.read(&mut bytes)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                n => self.received(&bytes[..n]),
            }
        }
    }

    /// Whether so much may be sent, which then counts as sent.
    pub(super) fn take(&mut self, bytes: u64) -> bool {
        let may = self.left >= bytes;
        self.left -= if may { bytes } else { 0 };
        may
    }

    /// Looks at what the client sends.
    pub(super) fn received(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
        let all = std::mem::take(&mut self.bytes);
        let mut frames = &all[..];
        while let Some((kind, stream, payload, rest)) = next(frames) {
            match kind {
                // Pairs of a number and a value, of which 4 is the window.
                SETTINGS => {
                    let settings = payload.chunks_exact(6).filter(|setting| setting[1] == 4);
                    self.left += settings.map(|setting| u64::from(number(&setting[2..]))).sum::<u64>();
                }
                WINDOW_UPDATE if stream != 0 => self.left += u64::from(number(payload)),
                HEADERS => self.first_request = Some(stream),
                _ => {}
            }
            frames = rest;
        }
        self.bytes = frames.to_vec();
    }
}

fn number(bytes: &[u8]) -> u32 {
    u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]])
}
