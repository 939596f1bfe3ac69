"""Figures: nothing lies on anything else."""

import matplotlib.pyplot as plt
import pytest
from matplotlib.lines import Line2D

from mtsp_ldp.report.canvas import STYLE, below, label_axes, panels


@pytest.mark.parametrize("number", [1, 3, 4, 9])
def test_a_legend_below_leaves_the_axes_their_labels(number):
    plt.style.use(STYLE)
    figure, axes = panels(number)
    label_axes(figure, "timestamp t", "share of the window")
    below(figure, [Line2D([], [], label=f"line {i}") for i in range(4)], columns=4)
    figure.canvas.draw()
    legend = figure.legends[0].get_window_extent()
    shown = axes[:number]
    for panel in shown:
        assert not panel.get_tightbbox().overlaps(legend)
    labelled = [panel for panel in shown if panel.get_xlabel() == "timestamp t"]
    assert labelled == shown[max(number - 3, 0) :]
    assert all(panel.xaxis.get_ticklabels()[0].get_visible() for panel in labelled)
    plt.close(figure)
