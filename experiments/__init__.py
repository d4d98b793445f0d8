"""The papers' figures and tables, run again: `python -m experiments --list`.

A module whose name has no leading underscore is an experiment. Its docstring is the recipe, and it has
`run(quick, each) -> Report`, where `quick` asks for seconds instead of minutes and `each(function, cases, label)`
calls the function for every case, on both cores and with a progress bar (`_each`). One number fixes all seeds
(`_seeds`). What an experiment draws and claims is saved and put on the page by `_run` and `_page`; a verdict is never
typed, it follows from the checks (`_report`).
"""
