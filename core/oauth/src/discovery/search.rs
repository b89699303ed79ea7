//! [`Search`]: requests a metadata document from several URLs in turn, and keeps the error to report if no URL has it.

use alloc::format;
use alloc::string::{String, ToString};
use alloc::vec::{self, Vec};
use core::mem;

use mcpwire_text::url::same_origin;

use crate::token_response::fetch_failed;
use crate::{Error, ErrorKind, FetchError, Input, Request, Response, Step};

/// The URLs at which a metadata document may be, and the most important error of the requests so far.
#[derive(Debug)]
pub(super) struct Search {
    step: Step,
    asked: String,
    remaining: vec::IntoIter<String>,
    /// URLs whose server could not be reached. Further URLs of the same origins are skipped.
    unreachable: Vec<String>,
    failure: Option<Error>,
}

impl Search {
    pub(super) fn new(step: Step, places: Vec<String>) -> Self {
        Search { step, asked: String::new(), remaining: places.into_iter(), unreachable: Vec::new(), failure: None }
    }

    /// Replaces the URLs that remain to be tried. The errors so far stay.
    pub(super) fn extend(&mut self, places: Vec<String>) {
        self.remaining = places.into_iter();
    }

    /// Returns the request for the next URL, or `None` if no URL is left. URLs of unreachable origins are skipped.
    pub(super) fn next(&mut self) -> Option<Request> {
        let unreachable = &self.unreachable;
        self.asked = self.remaining.find(|place| !unreachable.iter().any(|other| same_origin(place, other)))?;
        Some(Request::get(self.step, &self.asked))
    }

    /// Handles the result of a request. Returns the document and its URL, or `None` if the request returned no
    /// document.
    pub(super) fn receive(&mut self, input: Input) -> Result<Option<(Vec<u8>, String)>, Error> {
        let error = |kind, reason: String| Error::new(kind, self.step, reason).at(&self.asked);
        let failure = match input {
            Input::Response(mut response) if response.status == 200 && response.body.len() <= Request::MAX_RESPONSE => {
                return Ok(Some((mem::take(&mut response.body), self.asked.clone())));
            }
            Input::Response(Response { status: 200, .. }) | Input::FetchFailed(FetchError::TooLarge) => {
                error(ErrorKind::Misconfigured, format!("it is larger than {} bytes", Request::MAX_RESPONSE))
            }
            Input::Response(response) => {
                let (kind, reason) = match response.status {
                    300..400 => (ErrorKind::Misconfigured, "the server redirects, which is not followed"),
                    429 | 500.. => (ErrorKind::Temporary, "the server cannot answer now"),
                    _ => (ErrorKind::Misconfigured, "it was not found"),
                };
                error(kind, reason.to_string()).with_status(response.status)
            }
            Input::FetchFailed(failure) => {
                self.unreachable.push(self.asked.clone());
                let is_temporary = matches!(failure, FetchError::Failed(_));
                let kind = if is_temporary { ErrorKind::Temporary } else { ErrorKind::Untrusted };
                fetch_failed(failure, self.step, &self.asked).with_kind(kind)
            }
            Input::Signature(_) => return Err(Error::misuse(self.step)),
        };
        self.failed(failure);
        Ok(None)
    }

    /// Records that the response from `url` is not a metadata document.
    pub(super) fn unreadable(&mut self, url: &str) {
        self.failed(Error::new(ErrorKind::Misconfigured, self.step, "the response is not a metadata document").at(url));
    }

    /// Records an error, and keeps only the most important one. Errors that may be an attack are most important, then
    /// temporary errors, then all others. Of equally important errors, the first is kept.
    pub(super) fn failed(&mut self, error: Error) {
        let rank = |error: &Error| match error.kind() {
            ErrorKind::Untrusted => 2,
            ErrorKind::Temporary => 1,
            _ => 0,
        };
        if self.failure.as_ref().is_none_or(|before| rank(&error) > rank(before)) {
            self.failure = Some(error);
        }
    }

    /// Returns whether the document does not exist: all servers could be asked, and no document was refused as
    /// untrusted.
    pub(super) fn is_all_missing(&self) -> bool {
        self.failure.as_ref().is_none_or(|failure| failure.kind() == ErrorKind::Misconfigured)
    }

    /// Returns the most important error of all requests.
    pub(super) fn into_error(self) -> Error {
        self.failure
            .unwrap_or_else(|| Error::new(ErrorKind::Misconfigured, self.step, "there is no place to ask for it"))
    }
}
