//! The invented weather of the tool and the resources about cities. It is always the same for a city.

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use serde_json::{Value, json};

pub(crate) const CONDITIONS: [&str; 5] = ["sunny", "cloudy", "rainy", "foggy", "snowing"];

/// The cities that completion suggests. Any other text is also accepted as a city.
pub(crate) const CITIES: [&str; 12] =
    ["Berlin", "Braga", "Lisbon", "London", "Lyon", "Oslo", "Paris", "Porto", "Prague", "Rome", "São Paulo", "Zürich"];

pub(crate) const URI_TEMPLATE: &str = "demo://weather/{city}";

/// Returns the URI of the resource that describes a city's weather.
pub(crate) fn uri(city: &str) -> String {
    URI_TEMPLATE.replace("{city}", &utf8_percent_encode(city, NON_ALPHANUMERIC).to_string())
}

/// Returns the city of the weather resource with this URI, or `None` if the URI is of another resource.
pub(crate) fn city(uri: &str) -> Option<String> {
    let (prefix, _) = URI_TEMPLATE.split_once('{')?;
    let encoded = uri.strip_prefix(prefix).filter(|city| !city.is_empty() && !city.contains(['/', '?', '#']))?;
    Some(percent_decode_str(encoded).decode_utf8().ok()?.into_owned())
}

/// Returns the invented weather of a city, as a sentence and as structured content.
pub(crate) fn report(city: &str) -> (String, Value) {
    let dice = fnv1a(&city.to_lowercase());
    let temperature = i64::from(dice[0] % 43) - 8;
    let conditions = match CONDITIONS[usize::from(dice[1]) % CONDITIONS.len()] {
        "snowing" if temperature > 3 => "rainy",
        conditions => conditions,
    };
    let humidity = 25 + dice[2] % 71;
    let text =
        format!("{city}: {conditions}, {temperature} °C, {humidity} % humidity. (A demo: this weather is made up.)");
    let value = json!({
        "city": city,
        "temperature": temperature,
        "conditions": conditions,
        "humidity": humidity,
        "demo": true,
    });
    (text, value)
}

/// Computes the FNV-1a hash of a text. Unlike the hashes of the standard library, it is the same on all machines and in all
/// versions.
fn fnv1a(text: &str) -> [u8; 8] {
    text.bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
        .to_be_bytes()
}
