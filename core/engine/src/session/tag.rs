//! [`Tag`]: data of the program that travels with a request.

use alloc::sync::Arc;
use core::any::Any;

/// Data of the program that travels with a request. The session does not interpret the data.
///
/// Set by [`RequestOptions::tag`](super::RequestOptions::tag), and repeated in
/// [`Event::RequestSent`](super::Event::RequestSent). Clones share the data. Two tags are equal if they share their data.
#[derive(Clone, Debug)]
pub struct Tag(Arc<dyn Any + Send + Sync>);

impl Tag {
    /// Creates a tag.
    pub fn new(data: impl Any + Send + Sync) -> Self {
        Tag(Arc::new(data))
    }

    /// Returns the data, if it has this type.
    pub fn get<T: Any + Send + Sync>(&self) -> Option<&T> {
        self.0.downcast_ref()
    }
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Tag {}
