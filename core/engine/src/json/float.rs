//! Parses a JSON number as the nearest float.
//!
//! [`str::parse`] does the same, faster for long numbers. Its tables and its code are 17 KiB of every client, because progress is a
//! float. Short numbers take a multiplication or division here. The others are scaled in decimal, as on paper.

use alloc::vec::Vec;

use super::numeral::split_exponent;

/// Number of digits that decide how a number is rounded. The longest decimal between two floats has 767 digits.
const MAX_DIGITS: usize = 800;

/// The exponents of the smallest and the largest floats, with an integer of 53 bits as mantissa.
const MIN_EXPONENT: i32 = -1074;
const MAX_EXPONENT: i32 = 971;

/// Parses a text that is known to be a JSON number. Returns `None` if the number is out of range.
pub(super) fn parse(text: &str) -> Option<f64> {
    let (text, is_negative) = text.strip_prefix('-').map_or((text, false), |text| (text, true));
    let magnitude = short(text).or_else(|| Decimal::parse(text).nearest())?;
    Some(if is_negative { -magnitude } else { magnitude })
}

/// Parses a number whose digits and power of ten are both exact as floats, so that one operation rounds once.
fn short(text: &str) -> Option<f64> {
    let (digits, exponent) = split_exponent(text);
    let (mut mantissa, mut places, mut in_fraction) = (0u64, 0, false);
    for byte in digits.bytes() {
        if byte == b'.' {
            in_fraction = true;
            continue;
        }
        mantissa = mantissa.checked_mul(10)?.checked_add(u64::from(byte - b'0'))?;
        places += i64::from(in_fraction);
    }
    let exponent = exponent.checked_sub(places)?;
    if mantissa > 1 << 53 || exponent.unsigned_abs() > 22 {
        return None;
    }
    let power = (0..exponent.unsigned_abs()).fold(1.0, |power, _| power * 10.0);
    #[expect(clippy::cast_precision_loss, reason = "it is at most 2^53")]
    let mantissa = mantissa as f64;
    Some(if exponent < 0 { mantissa / power } else { mantissa * power })
}

/// The decimal 0.d₁d₂d₃… × 10^`point`. The first digit and the last are not zero.
struct Decimal {
    digits: Vec<u8>,
    point: i64,
}

impl Decimal {
    #[cold]
    fn parse(text: &str) -> Self {
        let (text, exponent) = split_exponent(text);
        let before_point = text.bytes().take_while(|byte| *byte != b'.').count();
        let mut digits: Vec<u8> = text.bytes().filter(|byte| *byte != b'.').map(|byte| byte - b'0').collect();
        if digits.iter().skip(MAX_DIGITS).any(|digit| *digit != 0) {
            // What follows only decides that the number is a little greater.
            digits.truncate(MAX_DIGITS);
            digits.push(1);
        }
        let point = exponent.saturating_add_unsigned(before_point as u64);
        let mut decimal = Decimal { digits, point };
        decimal.trim();
        decimal
    }

    /// Removes zeros at both ends.
    #[inline(never)]
    fn trim(&mut self) {
        let zeros = self.digits.iter().take_while(|digit| **digit == 0).count();
        self.digits.drain(..zeros);
        self.point = self.point.saturating_sub_unsigned(zeros as u64);
        while self.digits.last() == Some(&0) {
            self.digits.pop();
        }
    }

    /// Returns the nearest float. Of two, the one with an even mantissa.
    #[cold]
    fn nearest(mut self) -> Option<f64> {
        if self.digits.is_empty() || self.point < -330 {
            return Some(0.0);
        }
        if self.point > 310 {
            return None;
        }
        // Scale by powers of two until the integral part is a mantissa of 53 bits, or the exponent is the least there is.
        let mut exponent = 0;
        while self.point > 18 || self.integral() >= 1 << 53 {
            let bits = if self.point > 25 { 30 } else { 1 };
            self.halve(bits);
            exponent += bits;
        }
        while exponent > MIN_EXPONENT && (self.point < 16 || self.integral() < 1 << 52) {
            let bits = if self.point < 6 && exponent - 30 >= MIN_EXPONENT { 30 } else { 1 };
            self.double(bits);
            exponent -= bits;
        }
        if exponent > MAX_EXPONENT {
            return None;
        }
        let mut mantissa = self.integral();
        let fraction =
            usize::try_from(self.point).map_or(&[][..], |point| self.digits.get(point..).unwrap_or_default());
        mantissa += match fraction {
            [5] => mantissa & 1,
            [5..=9, ..] => 1,
            _ => 0,
        };
        // A mantissa of 2^53 carries into the exponent. One below 2^52 has the least exponent, which is written as zero.
        let bits = if mantissa < 1 << 52 {
            mantissa
        } else {
            mantissa - (1 << 52) + (u64::from((exponent + 1075).unsigned_abs()) << 52)
        };
        Some(f64::from_bits(bits)).filter(|value| value.is_finite())
    }

    /// Returns the integral part. `point` must be at most 18.
    #[inline(never)]
    fn integral(&self) -> u64 {
        (0..self.point).fold(0, |value, at| {
            let digit = usize::try_from(at).ok().and_then(|at| self.digits.get(at));
            value * 10 + digit.copied().map_or(0, u64::from)
        })
    }

    /// Multiplies by 2^`bits`, at most 2^30.
    #[expect(clippy::cast_possible_truncation, reason = "a digit fits")]
    fn double(&mut self, bits: i32) {
        let mut carry = 0u64;
        for digit in self.digits.iter_mut().rev() {
            carry += u64::from(*digit) << bits;
            *digit = (carry % 10) as u8;
            carry /= 10;
        }
        while carry > 0 {
            self.digits.insert(0, (carry % 10) as u8);
            self.point += 1;
            carry /= 10;
        }
        self.trim();
    }

    /// Divides by 2^`bits`, at most 2^30.
    #[expect(clippy::cast_possible_truncation, reason = "a digit fits")]
    fn halve(&mut self, bits: i32) {
        let mut rest = 0u64;
        for digit in &mut self.digits {
            rest = rest * 10 + u64::from(*digit);
            *digit = (rest >> bits) as u8;
            rest &= (1 << bits) - 1;
        }
        while rest > 0 {
            rest *= 10;
            self.digits.push((rest >> bits) as u8);
            rest &= (1 << bits) - 1;
        }
        self.trim();
    }
}

#[cfg(test)]
mod tests {
    use alloc::string::String;

    use super::*;

    #[track_caller]
    fn same(text: &str) {
        let expected = text.parse::<f64>().ok().filter(|value| value.is_finite());
        assert_eq!(parse(text).map(f64::to_bits), expected.map(f64::to_bits), "{text}");
    }

    #[test]
    fn short_numbers_long_numbers_and_the_ends_of_the_range() {
        for text in [
            "0",
            "-0",
            "-0.0",
            "0e99999999999999999999",
            "1",
            "0.5",
            "-2.50",
            "0.1",
            "0.30000000000000004",
            "1e22",
            "1e23",
            "9007199254740993",
            "9007199254740992.5",
            "9007199254740993.00000000000000000000001",
            "123456789012345678901234567890",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "1e308",
            "1e309",
            "1e310",
            "-1e400",
            "1e99999999999999999999",
            "1e-99999999999999999999",
            "4.9e-324",
            "2.4703282292062327e-324",
            "2.4703282292062328e-324",
            "5e-324",
            "1e-330",
            "2.2250738585072014e-308",
            "2.2250738585072011e-308",
            "2.225073858507201136e-308",
            "1E+5",
            "1e-5",
            "18446744073709551616",
        ] {
            same(text);
        }
        same(&(String::from("0.") + &"0".repeat(5000) + "1e5001"));
        same(&(String::from("9007199254740992.5") + &"0".repeat(5000) + "1"));
        same(&(String::from("1") + &"0".repeat(5000) + "e-5000"));
    }

    #[test]
    fn random_numbers_are_read_as_the_standard_library_reads_them() {
        let mut state = 0x9e37_79b9_7f4a_7c15u64;
        let mut random = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state
        };
        for _ in 0..20_000 {
            let value = f64::from_bits(random());
            if value.is_finite() {
                same(&alloc::format!("{value:e}"));
                same(&alloc::format!("{value:.40e}"));
            }
            let (digits, places) = (random() >> (random() % 64), random() % 60);
            same(&alloc::format!("{digits}e-{places}"));
            // Half way between two floats, and a little beside it.
            let whole = (random() >> 11 | 1 << 52) * 2 + 1;
            same(&alloc::format!("{whole}"));
            same(&alloc::format!("{whole}.000000000000000000000000001"));
            same(&alloc::format!("{}.99999999999999999999999999", whole - 1));
        }
    }
}
