"""The demo: a generated resource of facts that anyone can judge at a glance."""
