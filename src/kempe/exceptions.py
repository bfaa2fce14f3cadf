"""Errors that constrained clustering can end with."""

from __future__ import annotations

from typing import Self

RELAX = "kempe.relax finds the fewest pairs to give up"
"""What helps where pairs contradict each other."""


class InfeasibleConstraintsError(ValueError):
    """No clustering with the wanted number of clusters satisfies the constraints.

    Parameters
    ----------
    message
        What is wrong, for people.
    certificate
        The proof, for programs.
    advice
        What helps, if anything does.

    Attributes
    ----------
    certificate : object or None
        What proves it, in the user's row numbers; ``None`` if only a solver says so.
    message : str
        What is wrong.
    advice : str
        What helps, told after it.
    """

    def __init__(self, message: str, certificate: object | None = None, advice: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.certificate = certificate
        self.advice = advice
        self._around = (message, "")

    def __str__(self) -> str:
        return f"{self.message}; {self.advice}" if self.advice else self.message

    @classmethod
    def proven(cls, before: str, certificate: object, after: str = "", advice: str = RELAX) -> Self:
        """Make an error whose message has the certificate in it.

        Parameters
        ----------
        before, after
            What the message says around it.
        certificate
            What proves it, which says in words what it proves.
        advice
            What helps.
        """
        error = cls(f"{before}{certificate}{after}", certificate, advice)
        error._around = (before, after)
        return error

    def with_certificate(self, certificate: object) -> Self:
        """Say the same with another certificate, for instance in other row numbers.

        Parameters
        ----------
        certificate
            Takes the place of the one that there is.
        """
        before, after = self._around
        return type(self).proven(before, certificate, after, self.advice)


class NoSolutionFoundError(RuntimeError):
    """A method ended without a feasible clustering, which may nevertheless exist."""


class FileFormatError(ValueError):
    """A file is damaged, of another kind, or written by a newer version."""


class Interrupted(KeyboardInterrupt):
    """Ctrl-C that came before there was a clustering to return.

    A plain ``KeyboardInterrupt`` may be the second, which nobody shall hold up; this one has been
    noticed already.
    """


class CertificateError(ValueError):
    """A certificate does not prove what it claims; the message says where and why."""


class WorkerLostError(RuntimeError):
    """Workers of a cluster died over the same part of the data, one after the other."""
