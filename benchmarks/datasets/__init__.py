"""The workloads, in the order of the table."""

from . import choices, graded, hard, kernels, one_norm, real, scoring

WORKLOADS = {
    workload.name: workload
    for module in (graded, hard, real, kernels, choices, one_norm, scoring)
    for workload in module.WORKLOADS
}


def find(name):
    """Return a workload of the table or of the scaling plots."""
    return WORKLOADS[name] if name in WORKLOADS else graded.SCALING[name]
