"""Twin of the generator of the compiled core, so that slow twins can make the same choices."""

from __future__ import annotations

MASK = 2**64 - 1


class CoreRandom:
    """xoshiro256++ of Blackman and Vigna, seeded by splitmix64, as in ``cpp/basics/random.h``."""

    def __init__(self, seed: int) -> None:
        self.state = []
        for _ in range(4):
            seed = (seed + 0x9E3779B97F4A7C15) & MASK
            z = ((seed ^ (seed >> 30)) * 0xBF58476D1CE4E5B9) & MASK
            z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
            self.state.append(z ^ (z >> 31))

    def next(self) -> int:
        s = self.state
        result = (_turned((s[0] + s[3]) & MASK, 23) + s[0]) & MASK
        t = (s[1] << 17) & MASK
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= t
        s[3] = _turned(s[3], 45)
        return result

    def uniform(self) -> float:
        """A number in [0, 1)."""
        return (self.next() >> 11) * 2.0**-53

    def below(self, bound: int) -> int:
        """A whole number in 0..bound-1."""
        return ((self.next() >> 32) * bound) >> 32


def _turned(word: int, bits: int) -> int:
    return ((word << bits) | (word >> (64 - bits))) & MASK
