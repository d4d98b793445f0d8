"""OHSUMED beyond the features: term counts of query 1, the 106 requests, and the judgements of TREC-9."""

import re
from xml.etree import ElementTree as ET

import numpy as np
from sklearn.utils import Bunch

from ._files import read_file

STREAMS = {"title": "1", "abstract": "2", "both": "3"}


def fetch_ohsumed_terms(stream="both", *, data_home=None):
    """Load how often the terms of OHSUMED's query 1 occur in its 138 judged documents.

    Parameters
    ----------
    stream : {"title", "abstract", "both"}, default="both"
        Where the terms are counted.
    data_home : str, path-like or None, default=None
        Folder that holds `ohsumed_letor3/`; see :func:`get_data_home`.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        `X` (138, 7) counts, `y` (138,) grades 0, 1, 2, `docid` (138,), `length` (138,) words of the document,
        `terms` (stemmed) and `document_frequency` (7,): in how many of OHSUMED's documents each occurs.
    """
    if stream not in STREAMS:
        raise ValueError(f"stream={stream!r} is unknown; expected one of {list(STREAMS)}.")
    text = read_file("ohsumed_letor3/Meta/query-1.xml", data_home=data_home)
    query = ET.fromstring(text)  # noqa: S314 (known by its SHA-256)
    terms, docs = query.findall("terminfo/term"), query.findall("docinfo/doc")
    streams = [_stream(doc, stream) for doc in docs]
    counts = [[_number(term, "termfrequency") for term in s.findall("term")] for s in streams]
    return Bunch(
        X=np.array(counts, dtype=float),
        y=np.array([_number(doc, "label") for doc in docs]),
        docid=np.array([_number(doc, "docid") for doc in docs]),
        length=np.array([_number(s, "length") for s in streams]),
        terms=[term.findtext("word") for term in terms],
        document_frequency=np.array([_number(_stream(term, stream), "streamfrequency") for term in terms]),
    )


def fetch_ohsumed_topics(*, data_home=None):
    """Load the 106 requests of OHSUMED and the judgements of TREC-9 for the first 63.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        Folder that holds `ohsumed_original/`; see :func:`get_data_home`.

    Returns
    -------
    data : :class:`sklearn.utils.Bunch`
        `qid` (106,), `patient` and `request`, 106 texts each; `judgements`, three arrays of equal length in
        a Bunch: `qid`, `document` (MEDLINE number) and `y`, the relevance 1 or 2.
    """
    text = read_file("ohsumed_original/queries.txt", data_home=data_home).decode("utf-8")
    topics = re.findall(r"\.I\s+(\d+)\n\.B\n(.*?)\n\.W\n(.*?)\s*(?=\n\.I|\Z)", text, flags=re.DOTALL)
    qid, patient, request = zip(*topics, strict=True)
    judged = read_file("ohsumed_original/trec9.qrels.ohsu.88-91", data_home=data_home).decode("utf-8").split()
    names, document, y = judged[0::3], judged[1::3], judged[2::3]
    judgements = Bunch(
        qid=np.array([int(name.removeprefix("OHSU")) for name in names]),
        document=np.array(document, dtype=np.int64),
        y=np.array(y, dtype=np.int64),
    )
    return Bunch(qid=np.array(qid, dtype=np.int64), patient=list(patient), request=list(request), judgements=judgements)


def _stream(node, name):
    """Return the child that counts in the named stream."""
    return next(s for s in node.findall("stream") if s.findtext("streamid") == STREAMS[name])


def _number(node, tag):
    """Return the integer below a tag."""
    return int(node.findtext(tag))
