# SPDX-License-Identifier: Apache-2.0

"""Charts of the cluster experiments."""

from bench import drawing
from bench import propagation as measuring
from bench import summary


def propagation(points):
    """Seconds until the last node rejected a token.

    :param points: what :func:`bench.propagation.run` returned
    :returns: list of (caption, SVG)
    """
    figure, (panel,) = drawing.grid(1)
    names = [f'{point["case"]}\n{point["delay"]} ms' for point in points]
    for side in ('stock', 'patched'):
        rows = [n for n, point in enumerate(points) if side in point]
        for name, style in (('median', {}), ('most', {'fillstyle': 'none'})):
            values = [points[row][side][name] for row in rows]
            look = {**drawing.SIDES[side], **style, 'linestyle': ''}
            panel.plot(
                rows,
                [measuring.LIMIT if one is None else one for one in values],
                label=f'{side}, {name}',
                **look,
            )
    panel.set_xticks(range(len(names)), names, rotation=45)
    panel.set_ylabel('seconds')
    drawing.from_zero(panel)
    panel.legend()
    caption = (
        'Time from the response to a revocation to the first request rejected '
        'by the last of the other nodes, by cache arrangement and round trip '
        f'time; {measuring.LIMIT} s and more are shown as {measuring.LIMIT}.'
    )
    return [(caption, drawing.svg(figure, 'propagation'))]


def faults(points):
    """Share of failed requests for each fault.

    :param points: what :func:`bench.faults.run` returned
    :returns: list of (caption, SVG), one for each cluster
    """
    found = []
    for case in dict.fromkeys(point['case'] for point in points):
        figure, (panel,) = drawing.grid(1)
        rows = [
            point
            for point in points
            if point['case'] == case and 'lost' not in point['stock']
        ]
        width = 0.4
        for place, side in enumerate(summary.sides(rows[0])):
            panel.barh(
                [number + place * width for number in range(len(rows))],
                [
                    100 * row[side]['failed'] / row[side]['requests']
                    for row in rows
                ],
                width, label=side, color=drawing.SIDES[side]['color'],
                hatch='//' if side == 'stock' else None,
            )  # fmt: skip
        panel.set_yticks(range(len(rows)), [row['fault'] for row in rows])
        panel.set_xlabel('percentage of failed requests')
        panel.legend()
        caption = f'Requests that failed during and after a fault: {case}.'
        found.append((caption, drawing.svg(figure, f'faults {case}')))
    return found
