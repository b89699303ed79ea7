//! From the text of a number to the `f64` that is nearest to it.
//!
//! The standard library's way is as exact and faster, and brings a table of 10 KiB and two more algorithms into each program
//! that reads a number. Here a division does for what people write, and long numbers, which nobody sends, are worked out.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    reason = "words are taken apart, and the digits of a number are counted within one message"
)]

use alloc::vec::Vec;

/// The digits that are looked at. 800: whether a number lies above or below the middle of two `f64`s is settled within 768 of
/// them; those that follow say only that it is a little more.
const MOST_DIGITS: usize = 800;

/// The greatest power of five within 63 bits.
const MOST_FIVES: u32 = 27;

/// The number nearest to `text`, which is one as JSON writes them, as any language reads it: ties to even, and without an end
/// where it is too large.
pub(crate) fn nearest(text: &str) -> f64 {
    let (negative, text) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text),
    };
    let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    // An exponent that no number of digits makes up for is as good as any other.
    let exponent = exponent.parse().unwrap_or(if exponent.starts_with('-') { -1 << 60 } else { 1 << 60 });
    let size = magnitude(whole, fraction, exponent);
    f64::from_bits(if negative { size | 1 << 63 } else { size })
}

/// The bits of a number without its sign.
fn magnitude(whole: &str, fraction: &str, exponent: i64) -> u64 {
    let digits = || whole.bytes().chain(fraction.bytes()).skip_while(|digit| *digit == b'0').map(|digit| digit & 15);
    let count = digits().count();
    // The power of ten of the last digit, and of the one before the first.
    let last = exponent.saturating_sub_unsigned(fraction.len() as u64);
    let first = last.saturating_add_unsigned(count as u64);
    if count == 0 || first < -330 {
        return 0;
    }
    if first > 310 {
        return INFINITE;
    }
    // With a count that no text in memory exceeds: it is one of 64 MiB.
    let power = i32::try_from(last).unwrap_or(i32::MIN);
    let fives = power.unsigned_abs();
    if count <= 19 && fives <= MOST_FIVES {
        let number = digits().fold(0, |number: u64, digit| number * 10 + u64::from(digit));
        let five = u128::from(5_u64.pow(fives));
        return if power >= 0 {
            compose(u128::from(number) * five, power, false)
        } else {
            let number = u128::from(number);
            let shift = number.leading_zeros();
            let number = number << shift;
            compose(number / five, power - shift as i32, number % five > 0)
        };
    }
    let mut digits = digits();
    long(&mut || digits.next(), count, power)
}

/// The same for numbers of any length.
#[cold]
#[inline(never)]
fn long(next: &mut dyn FnMut() -> Option<u8>, count: usize, power: i32) -> u64 {
    let mut number = Large(Vec::new());
    let looked_at = count.min(MOST_DIGITS);
    for at in (0..looked_at).step_by(19) {
        let several = (looked_at - at).min(19);
        let value = (0..several).fold(0, |number: u64, _| number * 10 + u64::from(next().unwrap_or_default()));
        number.times_and(10_u64.pow(several as u32), value);
    }
    let mut more = false;
    while let Some(digit) = next() {
        more |= digit > 0;
    }
    let power = power.saturating_add((count - looked_at) as i32);
    let fives =
        |power: u32| (0..power).step_by(MOST_FIVES as usize).map(move |at| 5_u64.pow((power - at).min(MOST_FIVES)));
    let (mut exponent, mut left) = (power, false);
    if power > 0 {
        fives(power.unsigned_abs()).for_each(|by| number.times_and(by, 0));
    } else {
        // Enough bits for two words to be left; a five takes less than two and a half of them.
        let words = power.unsigned_abs() as usize * 5 / 128 + 3;
        number.0.splice(..0, core::iter::repeat_n(0, words));
        exponent -= 64 * words as i32;
        fives(power.unsigned_abs()).for_each(|by| left |= number.divide(by) > 0);
    }
    // The upper two words, and whether there is more below them.
    let cut = number.0.len().saturating_sub(2);
    let (below, upper) = number.0.split_at(cut);
    let upper = upper.iter().rev().fold(0, |upper, word| upper << 64 | u128::from(*word));
    compose(upper, exponent + 64 * cut as i32, more || left || below.iter().any(|word| *word > 0))
}

/// The bits of infinity.
const INFINITE: u64 = 0x7ff << 52;

/// The bits of the `f64` that is nearest to `number * 2^exponent`, or to a little more than that. Of the number there are 64
/// bits at least where there is more.
fn compose(number: u128, exponent: i32, more: bool) -> u64 {
    let bits = 128 - number.leading_zeros() as i32;
    let top = exponent + bits - 1;
    if top > 1023 {
        return INFINITE;
    }
    // Small numbers have fewer than 53.
    let precision = (top + 1075).min(53);
    if precision < 0 {
        return 0;
    }
    let cut = bits - precision;
    let mut mantissa = if cut <= 0 { number << -cut } else { number.checked_shr(cut as u32).unwrap_or(0) };
    if cut > 0 {
        let half = 1 << (cut - 1);
        let rest = number & ((half - 1) | half);
        if rest > half || (rest == half && (more || mantissa & 1 == 1)) {
            mantissa += 1;
        }
    }
    // The first bit of 53 counts as one of the exponent, and so does one that came by rounding.
    let exponent = if precision == 53 { (top + 1022) as u64 } else { 0 };
    (exponent << 52) + mantissa as u64
}

/// A whole number in words, the lowest first.
struct Large(Vec<u64>);

impl Large {
    fn times_and(&mut self, by: u64, plus: u64) {
        let mut carry = plus;
        for word in &mut self.0 {
            let product = u128::from(*word) * u128::from(by) + u128::from(carry);
            (*word, carry) = (product as u64, (product >> 64) as u64);
        }
        if carry > 0 {
            self.0.push(carry);
        }
    }

    /// What is left over.
    fn divide(&mut self, by: u64) -> u64 {
        let mut left = 0;
        for word in self.0.iter_mut().rev() {
            let dividend = u128::from(left) << 64 | u128::from(*word);
            (*word, left) = ((dividend / u128::from(by)) as u64, (dividend % u128::from(by)) as u64);
        }
        if self.0.last() == Some(&0) {
            self.0.pop();
        }
        left
    }
}

#[cfg(test)]
mod tests {
    use alloc::format;
    use alloc::string::{String, ToString};

    use super::nearest;

    fn same(text: &str) {
        let expected: f64 = text.parse().unwrap();
        assert_eq!(nearest(text).to_bits(), expected.to_bits(), "{text} is {expected:e}");
    }

    /// A simple generator, so that each run sees the same.
    fn random(state: &mut u64) -> u64 {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        *state
    }

    /// The number that lies in the middle between an `f64` and the next, with all its digits.
    fn middle(bits: u64) -> String {
        let mantissa = (bits & ((1 << 52) - 1)) | if bits >> 52 == 0 { 0 } else { 1 << 52 };
        let exponent = (bits >> 52).max(1) as i32 - 1075;
        // In decimal: the mantissa and a half, times a power of two that is made of fives and tens.
        let mut number = super::Large(alloc::vec::Vec::new());
        number.times_and(1, 2 * mantissa + 1);
        let twos = exponent - 1;
        for _ in 0..twos {
            number.times_and(2, 0);
        }
        for _ in twos..0 {
            number.times_and(5, 0);
        }
        let mut digits = String::new();
        while !number.0.is_empty() {
            digits.insert(0, char::from(b'0' + number.divide(10) as u8));
        }
        format!("{digits}e{}", twos.min(0))
    }

    #[test]
    fn is_what_the_standard_library_reads() {
        for text in [
            "0",
            "-0",
            "0.0",
            "0e5",
            "0e999999999999999999999",
            "1",
            "-1",
            "0.1",
            "0.3",
            "1.5e3",
            "1E+2",
            "123456789012345678",
            "9007199254740993",
            "9007199254740992.5",
            "0.30000000000000004",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "1e308",
            "1e309",
            "-1e400",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "2.2250738585072014e-308",
            "2.2250738585072011e-308",
            "4.9e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "2.4e-324",
            "1e-400",
            "6631236846766476e-316",
            "18446744073709551615e27",
            "9999999999999999999e-27",
            "9223372036854775808",
            "1e22",
            "1e23",
            "1e27",
            "1e28",
            "1e-27",
            "1e-28",
            "0.000000000000000000000000000000000000001",
            "100000000000000000000000000000000000000000000000",
        ] {
            same(text);
        }
        for zeros in [0, 300, 5_000] {
            let (many, nines) = ("0".repeat(zeros), "9".repeat(900));
            for text in [
                format!("1{many}"),
                format!("0.{many}1"),
                format!("1{many}e-{zeros}"),
                format!("0.{many}{nines}e{zeros}"),
            ] {
                same(&text);
            }
        }
    }

    #[test]
    fn any_number_is_the_same_when_it_is_read_again() {
        let mut state = 0x9e37_79b9_7f4a_7c15;
        for _ in 0..20_000 {
            let value = f64::from_bits(random(&mut state));
            if value.is_finite() {
                same(&format!("{value:e}"));
                same(&format!("{value:.3e}"));
                same(&format!("{value:.25e}"));
            }
            let (number, power) = (random(&mut state) >> (random(&mut state) % 64), random(&mut state) % 80);
            same(&number.to_string());
            same(&format!("{number}e{}", power as i64 - 40));
            same(&format!("{}.{number}", number % 1000));
        }
    }

    #[test]
    fn the_middle_between_two_is_the_even_one_and_all_else_the_nearer() {
        let mut state = 0x1234_5678_9abc_def1;
        let random = (0..300).map(|_| random(&mut state) & !(1 << 63)).filter(|bits| bits >> 52 < 0x7fe);
        for bits in [0, 1, 2, (1 << 52) - 1, 1 << 52, (0x7fe << 52) - 1].into_iter().chain(random) {
            let middle = middle(bits);
            same(&middle);
            let even = bits + (bits & 1);
            assert_eq!(nearest(&middle).to_bits(), even, "{middle}");
            let (digits, power) = middle.split_once('e').unwrap();
            for more in ["1".to_string(), format!("{}1", "0".repeat(900))] {
                let above = format!("{digits}.{more}e{power}");
                same(&above);
                assert_eq!(nearest(&above).to_bits(), bits + 1, "{above}");
            }
        }
    }
}
