"""What tests of a platform need: a module a part, with ``install(folder)``, which does nothing where all is there.

``environment(folder)``: variables that its tests run with. ``TESTS``: what pytest is given, where that is not
``tests/platforms/test_<part>*.py``.
"""
