"""Search: random playouts and what is built on them."""
