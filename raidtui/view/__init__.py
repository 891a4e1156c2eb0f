"""The drawing language, without Textual: lines of spans, cells, units, glyphs, colours. It knows no md."""
