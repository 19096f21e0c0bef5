"""Figures that the papers print, a module each."""
