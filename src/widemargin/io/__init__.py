"""Model files: save and load without running code, and the text files of SVM-rank and LIBLINEAR.

>>> from widemargin import RankingSVM
>>> from widemargin.io import load_model, save_model
>>> model = RankingSVM().fit([[0.0], [1.0], [2.0]], [0, 1, 2])
>>> save_model(model, "model.wm")
>>> load_model("model.wm").rank([[0.2], [1.8]])
array([2, 1])
"""

from ._liblinear import read_liblinear_model, write_liblinear_model
from ._model import load_model, model_info, save_model
from ._svmlight import read_svmlight_model, write_svmlight_model
from ._text import ModelFileError

__all__ = [
    "ModelFileError",
    "load_model",
    "model_info",
    "read_liblinear_model",
    "read_svmlight_model",
    "save_model",
    "write_liblinear_model",
    "write_svmlight_model",
]
