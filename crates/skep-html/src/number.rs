//! Writes integers without allocating and without the formatting machinery.

/// "00" to "99" in a row.
const PAIRS: [u8; 200] = pairs();

const fn pairs() -> [u8; 200] {
    let mut pairs = [b'0'; 200];
    let mut number = 0u8;
    while number < 100 {
        pairs[2 * number as usize] = b'0' + number / 10;
        pairs[2 * number as usize + 1] = b'0' + number % 10;
        number += 1;
    }
    pairs
}

/// `u64::MAX` has 20 digits.
const MOST_DIGITS: usize = 20;

pub(super) fn unsigned(out: &mut String, mut number: u64) {
    if number < 10 {
        return out.push(char::from(digit(number)));
    }
    let mut digits = [0; MOST_DIGITS];
    let mut start = MOST_DIGITS;
    while number >= 10 {
        let pair = 2 * usize::try_from(number % 100).expect("less than 100");
        number /= 100;
        start -= 2;
        digits[start..start + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if number > 0 {
        start -= 1;
        digits[start] = digit(number);
    }
    out.push_str(str::from_utf8(&digits[start..]).expect("digits are ASCII"));
}

pub(super) fn signed(out: &mut String, number: i64) {
    if number < 0 {
        out.push('-');
    }
    unsigned(out, number.unsigned_abs());
}

/// Of a number less than ten.
fn digit(number: u64) -> u8 {
    b'0' + u8::try_from(number).expect("less than 10")
}
