"""The drawing language without Textual: lines of spans, cells, units, signs, colours. It knows no md."""
