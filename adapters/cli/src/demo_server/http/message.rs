//! HTTP/1.1 as far as this server needs it (RFC 9112): requests in, within limits, and responses out.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

/// The request line and the headers together: far more than any client of the protocol sends.
const MOST_HEAD: usize = 32 * 1024;
const MOST_HEADERS: usize = 100;
/// A body. What the tools here are told is small.
const MOST_BODY: usize = 4 * 1024 * 1024;
/// The line that says how long a chunk is.
const MOST_CHUNK_LINE: usize = 1024;

/// A request, whole.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) method: String,
    /// Without what follows a `?`.
    pub(super) path: String,
    /// The names in lower case.
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
    /// HTTP/1.0 knows no chunks.
    pub(super) has_chunks: bool,
}

impl Request {
    /// The only value of a header: one that comes more than once is as good as none.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        let mut values = self.headers.iter().filter(|(other, _)| other == name).map(|(_, value)| value.as_str());
        values.next().filter(|_| values.next().is_none())
    }

    /// Every value of a header that is a list, in order.
    pub(super) fn list<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.headers
            .iter()
            .filter(move |(other, _)| other == name)
            .flat_map(|(_, value)| value.split(','))
            .map(str::trim)
    }

    /// Whether the connection is there for another request.
    pub(super) fn keeps_alive(&self) -> bool {
        self.has_chunks && !self.list("connection").any(|option| option.eq_ignore_ascii_case("close"))
    }
}

/// Why there is no request.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The client is gone, or has nothing more to say.
    Gone,
    /// It is told so, and the connection ends: where the next request begins is not known.
    Wrong(u16, &'static str),
}

impl From<io::Error> for Trouble {
    fn from(_: io::Error) -> Self {
        Self::Gone
    }
}

use Trouble::{Gone, Wrong};

/// Reads the next request. `output` is for the client that asks whether it may send its body.
pub(super) fn read(input: &mut impl BufRead, output: &mut impl Write) -> Result<Request, Trouble> {
    let mut request = head(input)?;
    let encodings: Vec<_> = request.list("transfer-encoding").collect();
    let lengths = request.headers.iter().filter(|(name, _)| name == "content-length").count();
    let is_chunked = match encodings.as_slice() {
        [] => false,
        // Two ways to say how long it is: whoever is between may have believed the other.
        [_, ..] if lengths > 0 => return Err(Wrong(400, "both a length and an encoding of the body")),
        [one] if one.eq_ignore_ascii_case("chunked") => true,
        _ => return Err(Wrong(501, "a transfer encoding other than chunked")),
    };
    let length = match request.header("content-length") {
        None if lengths > 0 => return Err(Wrong(400, "more than one length of the body")),
        None => 0,
        Some(digits) if !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            digits.parse::<usize>().ok().filter(|length| *length <= MOST_BODY).ok_or(TOO_LARGE)?
        }
        Some(_) => return Err(Wrong(400, "the length of the body is no number")),
    };
    if request.header("expect").is_some_and(|expected| expected.eq_ignore_ascii_case("100-continue")) {
        output.write_all(b"HTTP/1.1 100 Continue\r\n\r\n")?;
        output.flush()?;
    }
    if is_chunked {
        request.body = chunks(input)?;
    } else {
        request.body.resize(length, 0);
        input.read_exact(&mut request.body)?;
    }
    Ok(request)
}

const TOO_LARGE: Trouble = Wrong(413, "the body is too large");
const LONG_HEAD: Trouble = Wrong(431, "the headers are too large");

fn head(input: &mut impl BufRead) -> Result<Request, Trouble> {
    let mut left = MOST_HEAD;
    let mut line = String::new();
    // A client may end a body with a line end too many.
    while line.is_empty() {
        line = self::line(input, &mut left, LONG_HEAD)?;
    }
    let mut words = line.split(' ');
    let (Some(method), Some(target), Some(version), None) = (words.next(), words.next(), words.next(), words.next())
    else {
        return Err(Wrong(400, "the request line is not one"));
    };
    let has_chunks = match version {
        "HTTP/1.1" => true,
        "HTTP/1.0" => false,
        _ => return Err(Wrong(505, "a version of HTTP other than 1.1")),
    };
    let path = target.split_once('?').map_or(target, |(path, _)| path);
    let mut request =
        Request { method: method.into(), path: path.into(), headers: Vec::new(), body: Vec::new(), has_chunks };
    loop {
        let line = self::line(input, &mut left, LONG_HEAD)?;
        if line.is_empty() {
            return Ok(request);
        }
        if request.headers.len() == MOST_HEADERS {
            return Err(LONG_HEAD);
        }
        let (name, value) = line.split_once(':').ok_or(Wrong(400, "a header without a colon"))?;
        if name.is_empty() || !name.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(Wrong(400, "the name of a header is not one"));
        }
        request.headers.push((name.to_ascii_lowercase(), value.trim_matches([' ', '\t']).into()));
    }
}

fn chunks(input: &mut impl BufRead) -> Result<Vec<u8>, Trouble> {
    let mut body = Vec::new();
    loop {
        let line = line(input, &mut MOST_CHUNK_LINE.clone(), Wrong(400, "the length of a chunk is too long"))?;
        let digits = line.split(';').next().unwrap_or_default().trim();
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        let length = usize::from_str_radix(digits, 16).ok().filter(|_| is_number);
        let length = length.ok_or(Wrong(400, "the length of a chunk is no number"))?;
        if length == 0 {
            break;
        }
        let start = body.len();
        if length > MOST_BODY - start {
            return Err(TOO_LARGE);
        }
        body.resize(start + length, 0);
        input.read_exact(&mut body[start..])?;
        let mut end = [0; 2];
        input.read_exact(&mut end)?;
        if end != *b"\r\n" {
            return Err(Wrong(400, "a chunk is longer than it says"));
        }
    }
    let mut left = MOST_HEAD;
    while !line(input, &mut left, LONG_HEAD)?.is_empty() {}
    Ok(body)
}

/// The next line without its end, or `too_long` when it takes more than what is left.
fn line(input: &mut impl BufRead, left: &mut usize, too_long: Trouble) -> Result<String, Trouble> {
    let mut line = Vec::new();
    let read = input.take(*left as u64).read_until(b'\n', &mut line)?;
    *left -= read;
    if line.pop() != Some(b'\n') {
        return Err(if *left == 0 { too_long } else { Gone });
    }
    if line.last() == Some(&b'\r') {
        line.pop();
    }
    if line.iter().any(|byte| byte.is_ascii_control() && *byte != b'\t') {
        return Err(Wrong(400, "control characters in a header"));
    }
    String::from_utf8(line).map_err(|_| Wrong(400, "a header is not UTF-8"))
}

/// A response with a body that is known.
#[derive(Debug)]
pub(super) struct Response {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: Vec<u8>,
}

impl Response {
    /// Without a body.
    pub(super) fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: Vec::new() }
    }

    pub(super) fn json(status: u16, body: &Value) -> Self {
        Self::empty(status).with_header("Content-Type", "application/json").with_body(body.to_string())
    }

    pub(super) fn text(status: u16, body: impl Into<String>) -> Self {
        Self::empty(status).with_header("Content-Type", "text/plain; charset=utf-8").with_body(body.into() + "\n")
    }

    pub(super) fn with_header(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    fn with_body(mut self, body: String) -> Self {
        self.body = body.into_bytes();
        self
    }

    pub(super) fn write(&self, output: &mut impl Write, keeps_alive: bool) -> io::Result<()> {
        let mut whole = start(self.status, &self.headers);
        // No body is a body of no bytes, but where the status says that there is none.
        if self.status != 204 {
            whole.extend(["Content-Length: ", &self.body.len().to_string(), "\r\n"]);
        }
        whole += if keeps_alive { "\r\n" } else { "Connection: close\r\n\r\n" };
        let mut whole = whole.into_bytes();
        whole.extend_from_slice(&self.body);
        output.write_all(&whole)?;
        output.flush()
    }
}

/// The status line and headers, without the empty line at their end.
fn start(status: u16, headers: &[(&'static str, String)]) -> String {
    let mut start = format!("HTTP/1.1 {status} {}\r\n", reason(status));
    for (name, value) in headers {
        start.extend([name, ": ", value, "\r\n"]);
    }
    start
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        202 => "Accepted",
        204 => "No Content",
        400 => "Bad Request",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        406 => "Not Acceptable",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        431 => "Request Header Fields Too Large",
        501 => "Not Implemented",
        503 => "Service Unavailable",
        505 => "HTTP Version Not Supported",
        _ => "",
    }
}

/// A body of server-sent events, whose length nobody knows yet.
pub(super) struct Events<'a, W: Write> {
    output: &'a mut W,
    is_chunked: bool,
}

impl<'a, W: Write> Events<'a, W> {
    /// Writes the head of the response. Without chunks, the connection's end is the end of the body.
    pub(super) fn begin(output: &'a mut W, is_chunked: bool, keeps_alive: bool) -> io::Result<Self> {
        let headers = [
            ("Content-Type", "text/event-stream".into()),
            ("Cache-Control", "no-store".into()),
            // Or a proxy keeps what it has until it has more.
            ("X-Accel-Buffering", "no".into()),
        ];
        let mut head = start(200, &headers);
        if is_chunked {
            head += "Transfer-Encoding: chunked\r\n";
        }
        head += if keeps_alive { "\r\n" } else { "Connection: close\r\n\r\n" };
        output.write_all(head.as_bytes())?;
        output.flush()?;
        Ok(Self { output, is_chunked })
    }

    pub(super) fn write(&mut self, event: &str) -> io::Result<()> {
        if self.is_chunked {
            let chunk = format!("{:x}\r\n{event}\r\n", event.len());
            self.output.write_all(chunk.as_bytes())?;
        } else {
            self.output.write_all(event.as_bytes())?;
        }
        self.output.flush()
    }

    pub(super) fn end(self) -> io::Result<()> {
        if self.is_chunked {
            self.output.write_all(b"0\r\n\r\n")?;
        }
        self.output.flush()
    }
}
