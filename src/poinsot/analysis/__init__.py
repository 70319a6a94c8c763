"""What is asked of a model beyond one simulation: how exact it is, and at what cost. One file per question."""

from poinsot.analysis.convergence import Convergence, convergence
from poinsot.analysis.redundancy import Report, check
from poinsot.analysis.work_precision import Curve, WorkPrecision, work_precision

__all__ = ["Convergence", "Curve", "Report", "WorkPrecision", "check", "convergence", "work_precision"]
