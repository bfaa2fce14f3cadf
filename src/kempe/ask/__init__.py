"""Where pairs come from: a person is asked about the pairs that say most.

A ``Session`` proposes a pair, takes the answer, and has clusters that obey all answers at once.
"""

from kempe.ask.answers import Answer, Conflict
from kempe.ask.cobras import SuperInstances
from kempe.ask.npu import NormalisedUncertainty
from kempe.ask.session import STRATEGIES, Question, Session
from kempe.ask.simple import ExploreConsolidate, RandomPairs, Uncertainty
from kempe.ask.spreading import Spreading
from kempe.ask.strategy import Proposal, Strategy, View

__all__ = [
    "STRATEGIES",
    "Answer",
    "Conflict",
    "ExploreConsolidate",
    "NormalisedUncertainty",
    "Proposal",
    "Question",
    "RandomPairs",
    "Session",
    "Spreading",
    "Strategy",
    "SuperInstances",
    "Uncertainty",
    "View",
]
