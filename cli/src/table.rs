//! The look of tables on the terminal.
use comfy_table::Table;
use comfy_table::presets::UTF8_FULL_CONDENSED;

/// An empty table with these column heads.
pub fn table<const N: usize>(heads: [&str; N]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_FULL_CONDENSED).set_header(heads);
    table
}
