"""Pages: one HTML document each that needs nothing but itself, over one layout and one stylesheet."""
