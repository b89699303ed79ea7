//! Makes the input of a finding smaller while it still shows the finding.

use serde_json::{Map, Number, Value};

/// Tries smaller inputs. Counts the attempts, because each may start a server.
pub(super) struct Shrinker<'a> {
    /// Returns whether the finding appears with this input. `None` if there is no time left.
    pub(super) shows: &'a mut dyn FnMut(&Value) -> Option<bool>,
    /// The number of attempts that are left.
    pub(super) attempts: usize,
}

impl Shrinker<'_> {
    /// Returns the smallest input that was found: without the members and elements that it does not need, and with the shortest
    /// texts and the simplest values. Texts become zeros, where any characters do.
    pub(super) fn shrink(&mut self, input: Value) -> Value {
        let mut smallest = input;
        loop {
            let before = smallest.clone();
            self.shrink_at(&mut smallest, &[]);
            if smallest == before || self.attempts == 0 {
                return smallest;
            }
        }
    }

    /// Returns the smallest number from `low` on that shows the finding. `high` shows it.
    pub(super) fn smallest(&mut self, low: usize, high: usize, input: &mut dyn FnMut(usize) -> Value) -> usize {
        let (mut low, mut high) = (low, high);
        while low < high {
            let middle = low + (high - low) / 2;
            if self.try_input(&input(middle)) {
                high = middle;
            } else if self.attempts == 0 {
                return high;
            } else {
                low = middle + 1;
            }
        }
        high
    }

    fn try_input(&mut self, input: &Value) -> bool {
        if self.attempts == 0 {
            return false;
        }
        self.attempts -= 1;
        if let Some(shows) = (self.shows)(input) {
            return shows;
        }
        self.attempts = 0;
        false
    }

    /// Makes the part of `whole` at this path smaller.
    fn shrink_at(&mut self, whole: &mut Value, path: &[Key]) {
        let Some(part) = at(whole, path).cloned() else { return };
        if !path.is_empty() {
            self.shrink_depth(whole, path);
        }
        match part {
            Value::Object(_) => self.shrink_object(whole, path),
            Value::Array(items) if !items.is_empty() => self.shrink_array(whole, path, items.len()),
            Value::String(text) if !text.is_empty() => self.shrink_text(whole, path, &text),
            Value::Number(number) => self.shrink_number(whole, path, &number),
            Value::Bool(true) => drop(self.replace(whole, path, Value::Bool(false))),
            _ => {}
        }
    }

    /// Replaces the part of `whole` at this path, if the finding still appears then. Returns whether it does.
    fn replace(&mut self, whole: &mut Value, path: &[Key], part: Value) -> bool {
        let mut smaller = whole.clone();
        let Some(place) = at_mut(&mut smaller, path).filter(|place| **place != part) else { return false };
        *place = part;
        let shows = self.try_input(&smaller);
        if shows {
            *whole = smaller;
        }
        shows
    }

    /// Replaces a nested value by the deepest of its first children that does, so that a deep value loses levels quickly.
    fn shrink_depth(&mut self, whole: &mut Value, path: &[Key]) {
        let Some(part) = at(whole, path).cloned() else { return };
        let mut levels = vec![&part];
        while let Some(child) = levels.last().and_then(|level| first_child(level)) {
            levels.push(child);
        }
        let top = levels.len() - 1;
        if top == 0 {
            return;
        }
        // The number of levels that are left. All of them show the finding.
        let base = whole.clone();
        let keep = self.smallest(0, top, &mut |keep| replaced(&base, path, levels[top - keep].clone()));
        *whole = replaced(&base, path, levels[top - keep].clone());
    }

    fn shrink_object(&mut self, whole: &mut Value, path: &[Key]) {
        let members = |whole: &Value| at(whole, path).and_then(Value::as_object).cloned().unwrap_or_default();
        if !members(whole).is_empty() && self.replace(whole, path, Value::Object(Map::new())) {
            return;
        }
        for key in members(whole).keys() {
            let mut fewer = members(whole);
            fewer.remove(key);
            self.replace(whole, path, fewer.into());
        }
        for key in members(whole).keys() {
            self.shrink_at(whole, &[path, &[Key::Member(key.clone())]].concat());
        }
    }

    /// Makes an array smaller. Long arrays are long because their length shows the finding: then one attempt for each element is too
    /// much.
    fn shrink_array(&mut self, whole: &mut Value, path: &[Key], length: usize) {
        const MOST_ELEMENTS: usize = 8;
        let items = |whole: &Value| at(whole, path).and_then(Value::as_array).cloned().unwrap_or_default();
        let (base, all) = (whole.clone(), items(whole));
        let keep = self.smallest(0, length, &mut |keep| replaced(&base, path, all[..keep].to_vec().into()));
        *whole = replaced(&base, path, all[..keep].to_vec().into());
        let (base, all) = (whole.clone(), items(whole));
        let keep =
            self.smallest(0, all.len(), &mut |keep| replaced(&base, path, all[all.len() - keep..].to_vec().into()));
        *whole = replaced(&base, path, all[all.len() - keep..].to_vec().into());
        for index in 0..items(whole).len().min(MOST_ELEMENTS) {
            self.shrink_at(whole, &[path, &[Key::Element(index)]].concat());
        }
    }

    fn shrink_text(&mut self, whole: &mut Value, path: &[Key], text: &str) {
        let zeros = "0".repeat(text.chars().count());
        let text: Vec<char> = if self.replace(whole, path, zeros.clone().into()) {
            zeros.chars().collect()
        } else {
            text.chars().collect()
        };
        let part = |characters: &[char]| Value::from(characters.iter().collect::<String>());
        let base = whole.clone();
        let keep = self.smallest(0, text.len(), &mut |keep| replaced(&base, path, part(&text[..keep])));
        let text = &text[..keep];
        let keep = self.smallest(0, text.len(), &mut |keep| replaced(&base, path, part(&text[text.len() - keep..])));
        *whole = replaced(&base, path, part(&text[text.len() - keep..]));
    }

    fn shrink_number(&mut self, whole: &mut Value, path: &[Key], number: &Number) {
        if self.replace(whole, path, 0.into()) {
            return;
        }
        let whole_number = match (number.as_i64(), number.as_f64()) {
            (Some(whole_number), _) => whole_number,
            // A number with a fraction, or one that is written as such, becomes a whole number where that does, too.
            #[expect(clippy::cast_possible_truncation, reason = "the number is in the range of an `i64`")]
            (None, Some(number)) if number.abs() < 1e18 => {
                let whole_number = number.trunc() as i64;
                if whole_number == 0 || !self.replace(whole, path, whole_number.into()) {
                    return;
                }
                whole_number
            }
            _ => return,
        };
        let base = whole.clone();
        let signed = |size: usize| i64::try_from(size).unwrap_or(i64::MAX) * whole_number.signum();
        let whole_size = usize::try_from(whole_number.unsigned_abs()).unwrap_or(usize::MAX);
        let size = self.smallest(1, whole_size, &mut |size| replaced(&base, path, signed(size).into()));
        if size < whole_size {
            *whole = replaced(&base, path, signed(size).into());
        }
    }
}

/// A step from a value to a part of it.
#[derive(Clone, Debug)]
enum Key {
    Member(String),
    Element(usize),
}

fn at<'v>(value: &'v Value, path: &[Key]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| match key {
        Key::Member(name) => value.get(name),
        Key::Element(index) => value.get(index),
    })
}

fn at_mut<'v>(value: &'v mut Value, path: &[Key]) -> Option<&'v mut Value> {
    path.iter().try_fold(value, |value, key| match key {
        Key::Member(name) => value.get_mut(name),
        Key::Element(index) => value.get_mut(index),
    })
}

fn replaced(whole: &Value, path: &[Key], part: Value) -> Value {
    let mut whole = whole.clone();
    if let Some(place) = at_mut(&mut whole, path) {
        *place = part;
    }
    whole
}

fn first_child(value: &Value) -> Option<&Value> {
    match value {
        Value::Array(items) => items.first(),
        Value::Object(members) => members.values().next(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn shrinks(input: Value, shows: impl Fn(&Value) -> bool, smallest: &Value) {
        let mut tried = 0;
        let mut shows = |input: &Value| {
            tried += 1;
            Some(shows(input))
        };
        let found = Shrinker { shows: &mut shows, attempts: 500 }.shrink(input);
        assert_eq!(&found, smallest, "after {tried} attempts");
        assert!(tried < 200, "{tried}");
    }

    #[test]
    fn a_long_text_becomes_the_shortest_one_of_zeros() {
        let is_long = |input: &Value| input["text"].as_str().is_some_and(|text| text.len() > 1_000);
        let input = json!({"other": [1, 2, 3], "text": "a long text, ".repeat(5_000), "flag": true});
        shrinks(input, is_long, &json!({"text": "0".repeat(1_001)}));
    }

    #[test]
    fn only_the_odd_character_is_left() {
        let is_odd = |input: &Value| input["a"]["b"].as_str().is_some_and(|text| text.contains('\0'));
        shrinks(json!({"a": {"b": "some\0thing", "c": 5}}), is_odd, &json!({"a": {"b": "\0"}}));
    }

    #[test]
    fn a_missing_member_becomes_an_empty_object() {
        shrinks(json!({"a": 1, "b": {"c": []}}), |input| input.get("d").is_none(), &json!({}));
    }

    #[test]
    fn a_deep_value_loses_the_levels_that_it_does_not_need() {
        fn depth(value: &Value) -> usize {
            first_child(value).map_or(0, |child| 1 + depth(child))
        }
        let nested = |levels, inner| (0..levels).fold(inner, |inner, _| json!({"a": inner}));
        let input = json!({"v": nested(60, json!("x"))});
        shrinks(input, |input| depth(&input["v"]) > 7, &json!({"v": nested(8, json!(""))}));
    }

    #[test]
    fn numbers_come_near_zero_and_arrays_lose_elements() {
        shrinks(json!({"n": -70_000}), |input| input["n"].as_i64().is_some_and(|n| n < -300), &json!({"n": -301}));
        shrinks(json!({"n": 207.5}), |input| input["n"].as_f64().is_some_and(|n| n > 2.25), &json!({"n": 3}));
        let has_null = |input: &Value| input["list"].as_array().is_some_and(|items| items.contains(&Value::Null));
        shrinks(json!({"list": [1, "b", null, 3, 4]}), has_null, &json!({"list": [null]}));
    }

    #[test]
    fn it_ends_when_the_attempts_are_used_up() {
        let mut tried = 0;
        let mut shows = |_: &Value| {
            tried += 1;
            Some(true)
        };
        Shrinker { shows: &mut shows, attempts: 3 }.shrink(json!({"a": {"b": [1, 2, 3]}}));
        assert!(tried <= 3);
        let mut shows = |_: &Value| None;
        let input = json!({"a": 1});
        assert_eq!(Shrinker { shows: &mut shows, attempts: 10 }.shrink(input.clone()), input);
    }
}
