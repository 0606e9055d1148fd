//! What README.md shows is what the command prints.

#[test]
fn the_readme_shows_what_the_command_prints() {
    trycmd::TestCases::new().case("README.md");
}
