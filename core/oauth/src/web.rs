//! Drives flows in tests: scripted documents, and a record of what was asked.

use alloc::string::{String, ToString};
use alloc::vec::Vec;

use crate::{Action, Error, FetchError, Flow, Input, Request, Response, UnixTime};

pub(crate) const NOW: UnixTime = UnixTime::from_secs(1_800_000_000);

/// A web of documents by URL. URLs that it does not have are not found.
#[derive(Default)]
pub(crate) struct Web {
    pages: Vec<(String, Page)>,
    pub(crate) asked: Vec<Request>,
}

enum Page {
    Response(Response),
    Failure(FetchError),
}

impl Web {
    pub(crate) fn new() -> Self {
        Web::default()
    }

    pub(crate) fn with(self, url: &str, body: &str) -> Self {
        self.with_status(url, 200, body)
    }

    pub(crate) fn with_status(mut self, url: &str, status: u16, body: &str) -> Self {
        let response = Response { status, headers: Vec::new(), body: body.into() };
        self.pages.push((url.to_string(), Page::Response(response)));
        self
    }

    pub(crate) fn with_failure(mut self, url: &str, failure: FetchError) -> Self {
        self.pages.push((url.to_string(), Page::Failure(failure)));
        self
    }

    /// Drives a flow to its end.
    pub(crate) fn drive<F: Flow>(&mut self, flow: &mut F) -> Result<F::Output, Error> {
        let mut action = flow.start(NOW)?;
        loop {
            action = match action {
                Action::Fetch(request) => {
                    let input = self.answer(&request);
                    self.asked.push(request);
                    flow.resume(input, NOW)?
                }
                Action::Sign { .. } => flow.resume(Input::Signature(b"signature".to_vec()), NOW)?,
                Action::Done(output) => return Ok(output),
            };
        }
    }

    /// Answers with the first page for the URL. A page that is there twice is used up, so that the next request gets the
    /// second.
    fn answer(&mut self, request: &Request) -> Input {
        let mut same =
            self.pages.iter().enumerate().filter(|(_, (url, _))| *url == request.url).map(|(index, _)| index);
        let (first, second) = (same.next(), same.next());
        let Some(first) = first else {
            return Input::Response(Response { status: 404, headers: Vec::new(), body: b"not found".to_vec() });
        };
        let input = match &self.pages[first].1 {
            Page::Response(response) => Input::Response(response.clone()),
            Page::Failure(failure) => Input::FetchFailed(failure.clone()),
        };
        if second.is_some() {
            self.pages.remove(first);
        }
        input
    }

    pub(crate) fn asked_urls(&self) -> Vec<&str> {
        self.asked.iter().map(|request| request.url.as_str()).collect()
    }
}

/// Returns the body of a request as JSON.
pub(crate) fn json(request: &Request) -> serde_json::Value {
    serde_json::from_slice(request.body.as_ref().expect("a POST request")).unwrap()
}
