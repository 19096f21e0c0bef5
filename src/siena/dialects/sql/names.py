"""Names in selectors: words, in quotes or brackets, behind the section they are in."""

from siena.dialects.sql.strictness import KEYWORDS, check_field, check_word
from siena.dialects.sql.tokens import RESERVED, STRICT_TOKEN, TOKEN, unquoted
from siena.dialects.sql.variants import Variant
from siena.lang.expression.climbing import Climber
from siena.model.expression import Expression


class NameReader(Climber[Expression]):
    """A selector in one maker's language, of which names and strings can be read."""

    def __init__(self, text: str, variant: Variant) -> None:
        if variant.is_strict:
            # Keywords are compared in small letters, and are those that are capitals.
            super().__init__(text, STRICT_TOKEN, str.swapcase)
        else:
            super().__init__(text, TOKEN)
        self.variant = variant

    def name(self) -> str:
        """The name of a property, with the section it is in."""
        tokens = self.tokens
        if tokens.kind in {"quoted", "bracketed"} and not self.at_quoted_string():
            found = unquoted(tokens.token)
            tokens.advance()
            return found
        # What is strict has been looked at before, and reserves other words.
        is_reserved = not self.variant.is_strict and tokens.word in RESERVED
        if tokens.kind != "word" or is_reserved or tokens.token in KEYWORDS:
            what = "a name in brackets or quotes may be any word"
            tokens.fail(f"expected a value, found {tokens.describe()}", hint=what)
        self.check_word()
        found, start = tokens.token, tokens.start
        tokens.advance()
        if tokens.at("("):
            tokens.fail(f'there is no function "{found}" in a filter', position=start)
        while tokens.at(".") and tokens.start == start + len(found):
            tokens.advance()
            if tokens.kind in {"quoted", "bracketed"} and self.section(found):
                found += "." + unquoted(tokens.token)
                tokens.advance()
                break
            if tokens.kind != "word":
                tokens.fail(
                    f"expected a name behind the dot, found {tokens.describe()}"
                )
            self.check_word()
            found += "." + tokens.token
            tokens.advance()
        section, dot, rest = found.partition(".")
        section = self.section(section) or section
        if dot and section in self.variant.sections:
            section = self.variant.sections[section]
            if self.variant.is_strict:
                check_field(tokens, section, rest, start)
            return section + rest
        if dot and self.variant.is_strict:
            sections = ", ".join(self.variant.sections)
            hint = f"sections are {sections}; a name in brackets may have dots"
            tokens.fail(f"{found[:40]} is in no section", hint=hint, position=start)
        return found

    def check_word(self) -> None:
        """Refuse a word that is no name; what is strict has been looked at before."""
        if not (self.variant.is_java or self.variant.is_strict):
            check_word(self.tokens)

    def section(self, word: str) -> str:
        """The section that a word is, where more may be written than in one way."""
        scope = word.lower() if self.variant.delimits_fields else ""
        return scope if scope in self.variant.sections else ""

    def at_quoted_string(self) -> bool:
        """Whether a string in double quotes is at the front."""
        return self.tokens.kind == "quoted" and not self.variant.quoted_names

    def string(self, otherwise: str) -> str:
        """The string at the front, or else an error that says what is wanted."""
        tokens = self.tokens
        if tokens.kind != "string" and not self.at_quoted_string():
            tokens.fail(f"{otherwise}, found {tokens.describe()}")
        found = unquoted(tokens.token)
        tokens.advance()
        return found
