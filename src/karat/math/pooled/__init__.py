"""Estimates for many systems from one pool of labels.

An *instance* is what a person judges; a *unit* is what is drawn: a distinct relation with all its instances, or
simply the instance itself when no relation is named. System i is a law p_i on the units it predicts.
"""
