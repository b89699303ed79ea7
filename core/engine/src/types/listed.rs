//! Lists that are read entry by entry.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::Vec;
use core::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::json::from_json::{self, FromJson, Mismatch};
use crate::json::read::{self, Reader};

/// The most entries of a list that are kept, whether good or bad. 100,000: ten times the largest lists seen in the field, and
/// what keeps a message of the smallest entries there are from taking fifty times its size.
pub(crate) const MAX_ENTRIES: usize = 100_000;

/// The entries of a list that were good, and why the others were not.
#[derive(Clone, Debug)]
pub struct Listed<T> {
    /// The good entries, in the server's order.
    pub items: Vec<T>,
    /// What was left out.
    pub rejected: Vec<Rejected>,
    /// Whether that is not all: the server has more than is read (100,000 entries, 1,000 pages, 64 MiB beyond the first page),
    /// or its pages lead in a circle. The last of what was left out says so, too.
    pub is_cut: bool,
    /// How long the list was as JSON, where it was read; 0 otherwise. Lists that differ in nothing else are equal.
    pub bytes: usize,
}

impl<T: PartialEq> PartialEq for Listed<T> {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items && self.rejected == other.rejected && self.is_cut == other.is_cut
    }
}

/// An entry that was left out of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rejected {
    /// Its place in the list as the server sent it, from 0; over several pages, the count goes on.
    pub index: usize,
    /// Its name, where it has one.
    pub name: Option<String>,
    /// What is wrong with it.
    pub reason: Cow<'static, str>,
}

impl fmt::Display for Rejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "entry {} ({}): {}", self.index, crate::printable(name), self.reason),
            None => write!(f, "entry {}: {}", self.index, self.reason),
        }
    }
}

impl<T> Listed<T> {
    /// How many entries the server sent.
    pub fn sent(&self) -> usize {
        self.items.len() + self.rejected.len()
    }

    /// Says that there is more than is read.
    pub(crate) fn cut(&mut self) {
        if !self.is_cut {
            self.is_cut = true;
            let reason = "the list goes on: what follows is not read".into();
            self.rejected.push(Rejected { index: self.sent(), name: None, reason });
        }
    }

    /// Adds the entries of the next page.
    pub fn append(&mut self, mut page: Listed<T>) {
        let before = self.sent();
        self.is_cut |= page.is_cut;
        self.bytes = self.bytes.saturating_add(page.bytes);
        if self.items.is_empty() {
            // Most lists have one page.
            self.items = page.items;
        } else {
            self.items.append(&mut page.items);
        }
        self.rejected
            .extend(page.rejected.into_iter().map(|rejected| Rejected { index: rejected.index + before, ..rejected }));
    }
}

impl<T> Default for Listed<T> {
    fn default() -> Self {
        Listed { items: Vec::new(), rejected: Vec::new(), is_cut: false, bytes: 0 }
    }
}

impl<T: FromJson> FromJson for Listed<T> {
    const EXPECTED: &'static str = "an array";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        let mut list = Listed::default();
        if reader.next_byte() == Some(b'[') {
            let start = reader.position();
            reader.elements(&mut |reader| {
                if list.sent() >= MAX_ENTRIES {
                    list.cut();
                    return reader.skip();
                }
                match T::from_json(reader)? {
                    Ok(item) => list.items.push(item),
                    Err(mismatch) => {
                        list.rejected.push(reject(list.items.len() + list.rejected.len(), mismatch, T::EXPECTED));
                    }
                }
                Ok(())
            })?;
            list.bytes = reader.position() - start;
            return Ok(Ok(list));
        }
        let start = reader.position();
        Ok(match from_json::skip_mismatch(reader)? {
            null @ Mismatch::Type("null") => Err(null),
            // A list that is none has one entry, which is no good; that it was there is still told.
            mismatch => {
                list.rejected.push(reject(0, mismatch, Self::EXPECTED));
                list.bytes = reader.position() - start;
                Ok(list)
            }
        })
    }
}

#[cold]
fn reject(index: usize, mut mismatch: Mismatch, expected: &str) -> Rejected {
    let name = match &mut mismatch {
        Mismatch::Object { name, .. } => name.take(),
        Mismatch::Type(_) => None,
    };
    Rejected { index, name, reason: mismatch.reason(expected) }
}

impl<'de, T: FromJson> Deserialize<'de> for Listed<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_json::deserialize(deserializer)
    }
}

impl<T: Serialize> Serialize for Listed<T> {
    /// The good entries only.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.items.serialize(serializer)
    }
}
