"""The papers' figures and tables, run again: `python -m experiments --list`.

A module whose name has no leading underscore is an experiment. Its docstring is the recipe, and it has
`run(quick, track) -> Report`, where `quick` asks for seconds instead of minutes and `track(iterable, label)`
iterates with a progress bar. Seeds are fixed. What it draws and claims is saved and put on the page by
`_run` and `_page`; a verdict is never typed, it follows from the checks (`_report`).
"""
