"""Results as files: HTML with SVG pictures, CSV and JSON."""
