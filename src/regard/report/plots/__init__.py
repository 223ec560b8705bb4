"""Plots as plain SVG: lines, dots, scatter, boxes, bars and a heat map over one axis, one legend and one set of marks."""
