"""karat: how good are my predictions?"""
