//! [`ItemList`]: a list that contains its valid entries even if other entries are invalid.

use alloc::borrow::Cow;
use alloc::string::String;
use alloc::vec::{self, Vec};
use core::fmt;
use core::slice;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::from_json::{self, FromJson, Mismatch};
use super::read::{self, Reader};

/// Maximum number of entries, valid or invalid, that the client reads of a server's list, such as its tools: 100,000.
///
/// Limits memory, because an entry can occupy fifty times as many bytes in memory as in JSON. The longest list known
/// from a server has a tenth as many entries.
pub const MAX_ENTRIES: usize = 100_000;

/// A list that a server sent, such as its tools: the valid entries, and the reason why each invalid entry was rejected.
///
/// Iterating over the list yields only the valid entries.
#[derive(Clone, Debug)]
#[doc(alias = "ListResult")]
pub struct ItemList<T> {
    /// The valid entries of the server's list, in the order in which the server sent them.
    pub items: Vec<T>,
    /// The invalid entries of the server's list, in the order in which the server sent them, each with the reason why
    /// it was rejected.
    pub rejected: Vec<InvalidItem>,
    /// Whether the client stopped reading the server's list before the end. If so, the last element of
    /// [`ItemList::rejected`] is not an entry of the list, but reports the truncation.
    ///
    /// The client stops after 100,000 entries, after 1,000 pages, when all pages after the first exceed 64 MiB
    /// together, or when the server sends a cursor for the second time.
    pub is_truncated: bool,
    /// Size in bytes of the JSON array from which the list was read, added up over all pages. 0 if the list was not
    /// read from JSON.
    ///
    /// The operator `==` ignores this field.
    pub bytes: usize,
}

impl<T: PartialEq> PartialEq for ItemList<T> {
    fn eq(&self, other: &Self) -> bool {
        self.items == other.items && self.rejected == other.rejected && self.is_truncated == other.is_truncated
    }
}

/// An entry of a server's list, such as a tool, that the client rejected because the entry is invalid.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct InvalidItem {
    /// Position of the rejected entry in the server's list, counted from 0 across all pages.
    pub index: usize,
    /// Name of the rejected entry, such as the tool's name. `None` if the entry has no valid name.
    pub name: Option<String>,
    /// The reason why the client rejected the entry, as text for display.
    pub reason: Cow<'static, str>,
}

impl fmt::Display for InvalidItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.name {
            Some(name) => write!(f, "entry {} ({}): {}", self.index, crate::printable(name), self.reason),
            None => write!(f, "entry {}: {}", self.index, self.reason),
        }
    }
}

impl<T> ItemList<T> {
    /// Returns the number of entries that the client read from the server's list: the valid and the rejected ones.
    ///
    /// If the list is truncated, also counts the element of [`ItemList::rejected`] that reports the truncation.
    pub fn sent(&self) -> usize {
        self.items.len() + self.rejected.len()
    }

    /// Iterates over the valid entries of the list.
    pub fn iter(&self) -> slice::Iter<'_, T> {
        self.items.iter()
    }

    /// Iterates over the valid entries of the list, which can be changed.
    pub fn iter_mut(&mut self) -> slice::IterMut<'_, T> {
        self.items.iter_mut()
    }

    /// Appends `page`, the next page of the same list.
    ///
    /// Increases [`InvalidItem::index`] of the page's rejected entries by the number of entries on earlier pages.
    pub fn append(&mut self, mut page: ItemList<T>) {
        let before = self.sent();
        self.is_truncated |= page.is_truncated;
        self.bytes = self.bytes.saturating_add(page.bytes);
        if self.items.is_empty() {
            // The first page becomes the list without a copy.
            self.items = page.items;
        } else {
            self.items.append(&mut page.items);
        }
        self.rejected.extend(
            page.rejected.into_iter().map(|rejected| InvalidItem { index: rejected.index + before, ..rejected }),
        );
    }
}

/// Marks `list` as truncated, and adds an element to [`ItemList::rejected`] that reports the truncation. Does nothing if
/// the list is already truncated.
pub fn truncate<T>(list: &mut ItemList<T>) {
    if !list.is_truncated {
        list.is_truncated = true;
        let reason = "the list goes on: what follows is not read".into();
        list.rejected.push(InvalidItem { index: list.sent(), name: None, reason });
    }
}

/// Calls `reject` for each valid entry of `list`, and moves the entry to [`ItemList::rejected`] if `reject` returns a
/// name and a reason.
///
/// The [`InvalidItem::index`] of a moved entry is its position in the server's list.
pub fn reject<T>(list: &mut ItemList<T>, mut reject: impl FnMut(&mut T) -> Option<(String, Cow<'static, str>)>) {
    let mut taken = list.rejected.iter().map(|rejected| rejected.index).peekable();
    let mut added = Vec::new();
    let mut index = 0;
    list.items.retain_mut(|item| {
        // Skip the positions of entries that were rejected before. They are in ascending order.
        while taken.next_if_eq(&index).is_some() {
            index += 1;
        }
        let rejected = reject(item).map(|(name, reason)| InvalidItem { index, name: Some(name), reason });
        index += 1;
        let is_good = rejected.is_none();
        added.extend(rejected);
        is_good
    });
    if !added.is_empty() {
        list.rejected.append(&mut added);
        list.rejected.sort_by_key(|rejected| rejected.index);
    }
}

impl<T> Default for ItemList<T> {
    fn default() -> Self {
        ItemList { items: Vec::new(), rejected: Vec::new(), is_truncated: false, bytes: 0 }
    }
}

impl<T> IntoIterator for ItemList<T> {
    type Item = T;
    type IntoIter = vec::IntoIter<T>;

    fn into_iter(self) -> vec::IntoIter<T> {
        self.items.into_iter()
    }
}

impl<'a, T> IntoIterator for &'a ItemList<T> {
    type Item = &'a T;
    type IntoIter = slice::Iter<'a, T>;

    fn into_iter(self) -> slice::Iter<'a, T> {
        self.iter()
    }
}

impl<'a, T> IntoIterator for &'a mut ItemList<T> {
    type Item = &'a mut T;
    type IntoIter = slice::IterMut<'a, T>;

    fn into_iter(self) -> slice::IterMut<'a, T> {
        self.items.iter_mut()
    }
}

impl<T> FromIterator<T> for ItemList<T> {
    /// Creates a list of valid entries.
    fn from_iter<I: IntoIterator<Item = T>>(items: I) -> Self {
        ItemList { items: items.into_iter().collect(), ..ItemList::default() }
    }
}

impl<T: FromJson> FromJson for ItemList<T> {
    const EXPECTED: &'static str = "an array";

    fn from_json(reader: &mut Reader<'_>) -> read::Result<Result<Self, Mismatch>> {
        let mut list = ItemList::default();
        let is_array = reader.next_byte() == Some(b'[');
        let start = reader.position();
        if is_array {
            reader.elements(&mut |reader| {
                if list.sent() >= MAX_ENTRIES {
                    truncate(&mut list);
                    return reader.skip();
                }
                match T::from_json(reader)? {
                    Ok(item) => list.items.push(item),
                    Err(mismatch) => list.rejected.push(rejected(list.sent(), mismatch, T::EXPECTED)),
                }
                Ok(())
            })?;
        } else {
            match from_json::skip_mismatch(reader)? {
                null @ Mismatch::Type("null") => return Ok(Err(null)),
                // A value that is not an array is reported as a list with one rejected entry.
                mismatch => list.rejected.push(rejected(0, mismatch, Self::EXPECTED)),
            }
        }
        list.bytes = reader.position() - start;
        Ok(Ok(list))
    }
}

#[cold]
fn rejected(index: usize, mismatch: Mismatch, expected: &str) -> InvalidItem {
    let name = match &mismatch {
        Mismatch::Object(object) => object.name.clone(),
        Mismatch::Type(_) => None,
    };
    InvalidItem { index, name, reason: mismatch.reason(expected) }
}

impl<'de, T: FromJson> Deserialize<'de> for ItemList<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        from_json::deserialize(deserializer)
    }
}

impl<T: Serialize> Serialize for ItemList<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.items.serialize(serializer)
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::ToString;

    use super::*;

    #[test]
    fn a_list_is_iterated_by_value_and_by_reference() {
        let mut list: ItemList<u32> = [1, 2].into_iter().collect();
        for item in &mut list {
            *item += 1;
        }
        assert_eq!((&list).into_iter().copied().collect::<Vec<_>>(), [2, 3]);
        assert_eq!(list.into_iter().collect::<Vec<_>>(), [2, 3]);
    }

    #[test]
    fn entries_that_are_rejected_later_keep_their_positions() {
        let mut list: ItemList<String> = crate::json::from_str(r#"["a",1,"b",2,3,"c","d"]"#).unwrap();
        reject(&mut list, |item| matches!(&**item, "b" | "d").then(|| (item.clone(), "no good".into())));
        assert_eq!(list.iter().collect::<Vec<_>>(), ["a", "c"]);
        let rejected: Vec<_> = list.rejected.iter().map(ToString::to_string).collect();
        assert_eq!(
            rejected[..3],
            ["entry 1: a number instead of a string", "entry 2 (b): no good", "entry 3: a number instead of a string"]
        );
        assert_eq!(list.rejected.iter().map(|rejected| rejected.index).collect::<Vec<_>>(), [1, 2, 3, 4, 6]);
        reject(&mut list, |item| (item == "c").then(|| (item.clone(), "no good".into())));
        assert_eq!(list.rejected.iter().map(|rejected| rejected.index).collect::<Vec<_>>(), [1, 2, 3, 4, 5, 6]);
    }
}
