//! Where the bytes come from: a file, standard input or the command line, as they are or as text.
use std::fs::File;
use std::io::{self, Read};

use anyhow::{Context, ensure};
use data_encoding::{BASE64_NOPAD, DecodeError, HEXLOWER_PERMISSIVE};

/// Largest input in bytes; a broker keeps a whole group in one record of about 1 MB.
const MOST_INPUT: u64 = 16 << 20;

/// The input, said in one of three ways.
#[derive(clap::Args)]
#[group(id = "input", required = true, multiple = false)]
pub struct Arguments {
    /// The bytes, or hexadecimal digits or base64 for them; `-` reads standard input.
    file: Option<String>,
    /// The bytes as hexadecimal digits.
    #[arg(long, value_name = "DIGITS")]
    hex: Option<String>,
    /// The bytes as base64, with padding or without, of either alphabet.
    #[arg(long, value_name = "TEXT")]
    base64: Option<String>,
}

impl Arguments {
    /// The bytes that are meant.
    ///
    /// # Errors
    /// Text that is no such text, a file that cannot be read or is larger than any metadata.
    pub fn read(&self) -> anyhow::Result<Vec<u8>> {
        if let Some(digits) = &self.hex {
            return from_hex(digits.as_bytes()).context("--hex");
        }
        if let Some(text) = &self.base64 {
            return from_base64(text.as_bytes()).context("--base64");
        }
        let name = self.file.as_deref().unwrap_or("-");
        read(name).map(from_contents)
    }
}

fn read(name: &str) -> anyhow::Result<Vec<u8>> {
    let (shown, source): (&str, io::Result<Box<dyn Read>>) = match name {
        "-" => ("standard input", Ok(Box::new(io::stdin()))),
        path => (path, File::open(path).map(|file| Box::new(file) as _)),
    };
    let mut contents = Vec::new();
    source
        .and_then(|source| source.take(MOST_INPUT + 1).read_to_end(&mut contents))
        .with_context(|| format!("cannot read {shown}"))?;
    let fits = contents.len() as u64 <= MOST_INPUT;
    ensure!(fits, "{shown}: larger than {MOST_INPUT} bytes");
    Ok(contents)
}

/// Nothing that is decoded here consists of the characters of hexadecimal digits or base64 alone.
fn from_contents(contents: Vec<u8>) -> Vec<u8> {
    let text = from_hex(&contents).or_else(|_| from_base64(&contents));
    match text {
        Ok(bytes) if !bytes.is_empty() => bytes,
        _ => contents,
    }
}

fn from_hex(digits: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let digits = without_space(digits);
    let digits = digits.strip_prefix(b"0x").unwrap_or(&digits);
    HEXLOWER_PERMISSIVE.decode(digits)
}

fn from_base64(text: &[u8]) -> Result<Vec<u8>, DecodeError> {
    let mut text = without_space(text);
    while text.last() == Some(&b'=') {
        text.pop();
    }
    for letter in &mut text {
        *letter = match *letter {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        };
    }
    BASE64_NOPAD.decode(&text)
}

fn without_space(text: &[u8]) -> Vec<u8> {
    let visible = text.iter().filter(|byte| !byte.is_ascii_whitespace());
    visible.copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_may_be_of_either_case_and_spaced() {
        assert_eq!(from_hex(b"0x00 fF\n7a"), Ok(vec![0, 0xff, 0x7a]));
        assert!(from_hex(b"0").is_err());
        assert!(from_hex(b"0g").is_err());
    }

    #[test]
    fn base64_may_be_of_either_alphabet_and_unpadded() {
        for text in ["+/8=", "-_8=", "-_8", " +/\n8 "] {
            assert_eq!(from_base64(text.as_bytes()), Ok(vec![0xfb, 0xff]), "{text}");
        }
        assert!(from_base64(b"+/8*").is_err());
    }

    #[test]
    fn contents_are_text_only_if_all_of_it_is() {
        assert_eq!(from_contents(b"00 01\n".to_vec()), [0, 1]);
        assert_eq!(from_contents(b"AAE=\n".to_vec()), [0, 1]);
        for raw in [
            &b""[..],
            b"\n",
            b"{\"url\":\"a\"}",
            b"RKAS\x01",
            b"\0\x01\0\0",
        ] {
            assert_eq!(from_contents(raw.to_vec()), raw);
        }
    }
}
