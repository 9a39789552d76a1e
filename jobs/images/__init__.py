"""The table `images`, and the place of an image beside a text (Xinyu, section 3.6.3)."""
