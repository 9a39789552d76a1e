"""Training of the models that Quern packages; needs the environment of `make install-torch`."""
