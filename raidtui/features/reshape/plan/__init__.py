"""Growing, converting and shrinking arrays that run, and what protects their parity from crashes."""
