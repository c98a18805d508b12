"""Ask GAP for the invariants of Lie algebras with rational structure constants, and store its answers in answers.json.

GAP computes exactly, over the rationals. To run again (Debian: apt-get install gap-core gap-libs), from the repository's root:

    PYTHONPATH=src:tests python tests/algebra/gap/ask.py

The tests read the stored answers and need no GAP. An algebra over the complex numbers counts as a real one here, so its type shows
its Dynkin diagram twice, as in "A1 A1" for sl(2,C).
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path

import torch
from torch import Tensor

from algebra.gap import algebras as make
from liegg.algebra import aff, diagonal, gl, scaling, se, shear, sl, so, sp, su, u
from liegg.algebra.bracket import structure_constants

ANSWERS = Path(__file__).with_name("answers.json")

ALGEBRAS: dict[str, Callable[[], Tensor]] = {
    "so(3)": lambda: so(3),
    "so(4)": lambda: so(4),
    "so(5)": lambda: so(5),
    "so(7)": lambda: so(7),
    "so(8)": lambda: so(8),
    "so(1,2)": lambda: so(1, 2),
    "so(1,3)": lambda: so(1, 3),
    "so(2,2)": lambda: so(2, 2),
    "so(2,3)": lambda: so(2, 3),
    "so(2,4)": lambda: so(2, 4),
    "so(3,4)": lambda: so(3, 4),
    "su(3)": lambda: su(3),
    "su(1,2)": lambda: make.su_pq(1, 2),
    "su(2,2)": lambda: make.su_pq(2, 2),
    "sl(3,R)": lambda: sl(3),
    "sl(4,R)": lambda: sl(4),
    "sl(5,R)": lambda: sl(5),
    "sl(2,H)": lambda: make.sl_h(2),
    "sl(2,C)": lambda: make.complexified(sl(2)),
    "sl(3,C)": lambda: make.complexified(sl(3)),
    "so(4,C)": lambda: make.complexified(so(4)),
    "sp(4,R)": lambda: sp(4),
    "sp(6,R)": lambda: sp(6),
    "sp(1,1)": lambda: make.quaternionic(1, 1),
    "sp(3)": lambda: make.quaternionic(3, 0),
    "so*(4)": lambda: make.so_star(2),
    "so*(6)": lambda: make.so_star(3),
    "g2": lambda: make.g2(),
    "g2(split)": lambda: make.g2(split=True),
    "so(3) + so(1,2) + su(3)": lambda: make.direct_sum(so(3), so(1, 2), su(3)),
    "u(2)": lambda: u(2),
    "u(3)": lambda: u(3),
    "gl(3)": lambda: gl(3),
    "gl(2,C)": lambda: make.complexified(gl(2)),
    "diagonal(3)": lambda: diagonal(3),
    "heis(3)": lambda: make.heisenberg(1),
    "heis(7)": lambda: make.heisenberg(3),
    "heis(3) + heis(5)": lambda: make.direct_sum(make.heisenberg(1), make.heisenberg(2)),
    "filiform(4)": lambda: make.filiform(4),
    "filiform(6)": lambda: make.filiform(6),
    "shear(4)": lambda: shear(4),
    "shear(5)": lambda: shear(5),
    "triangular(3)": lambda: make.upper_triangular(3),
    "triangular(4)": lambda: make.upper_triangular(4),
    "aff(1)": lambda: aff(1),
    "aff(1) + R": lambda: make.direct_sum(aff(1), scaling(1)),
    "Bianchi IV": lambda: make.flow([[1, 1], [0, 1]]),
    "Bianchi V": lambda: make.flow([[1, 0], [0, 1]]),
    "Bianchi VI": lambda: make.flow([[1, 0], [0, 3]]),
    "Bianchi VII": lambda: make.flow([[1, -2], [2, 1]]),
    "flow with eigenvalues 1 + i, 1 - i": lambda: make.flow([[1, -1, 0], [1, 1, 0], [0, 0, 0]]),
    "se(2)": lambda: se(2),
    "e(1,1)": lambda: make.semidirect(so(1, 1)),
    "se(3)": lambda: se(3),
    "se(4)": lambda: se(4),
    "e(1,3)": lambda: make.semidirect(so(1, 3)),
    "sim(2)": lambda: make.semidirect(so(2), scaled=True),
    "sim(3)": lambda: make.semidirect(so(3), scaled=True),
    "aff(2)": lambda: aff(2),
    "aff(3)": lambda: aff(3),
    "saff(3)": lambda: make.semidirect(sl(3)),
    "sl(2) on heis(3)": lambda: make.jacobi(1),
    "sp(4) on heis(5)": lambda: make.jacobi(2),
    "blocks(1,2,1)": lambda: make.block_triangular(1, 2, 1),
    "blocks(2,2)": lambda: make.block_triangular(2, 2),
    "se(2) + se(3) + sl(2)": lambda: make.direct_sum(se(2), se(3), sl(2)),
}
"""Integer matrices; the constants over these bases are rational."""

GAP = r"""
SizeScreen([4000, 1000]);;
Print("GAP ", GAPInfo.Version, "\n");;
dims := l -> List(l, Dimension);;
ask := function(name, d, entries)
  local T, e, L, levi, type, ideals;
  T := EmptySCTable(d, 0, "antisymmetric");
  for e in entries do SetEntrySCTable(T, e[1], e[2], e[3]); od;
  L := LieAlgebraByStructureConstants(Rationals, T);
  if not TestJacobi(T) = true then Print("ERROR ", name, "\n"); return; fi;
  levi := LeviMalcevDecomposition(L)[1];
  type := "";  ideals := [];
  if Dimension(levi) > 0 then type := SemiSimpleType(levi);  ideals := dims(DirectSumDecomposition(levi)); fi;
  Print("{\"name\": \"", name, "\", \"dimension\": ", d,
    ", \"derived_series\": ", dims(LieDerivedSeries(L)),
    ", \"lower_central_series\": ", dims(LieLowerCentralSeries(L)),
    ", \"centre\": ", Dimension(LieCentre(L)),
    ", \"radical\": ", Dimension(LieSolvableRadical(L)),
    ", \"nilradical\": ", Dimension(LieNilRadical(L)),
    ", \"levi\": ", Dimension(levi),
    ", \"ideals\": ", ideals,
    ", \"type\": \"", type, "\"",
    ", \"rank\": ", Dimension(CartanSubalgebra(L)), "}\n");
end;;
"""


def exact_constants(generators: Tensor) -> dict[tuple[int, int], dict[int, Fraction]]:
    """Nonzero constants of the basis as given, as fractions with which every bracket is exact."""
    numbers, matrices = (
        structure_constants(generators),
        generators.flatten(1).to(torch.int64).tolist(),
    )
    if not torch.equal(torch.tensor(matrices).double(), generators.flatten(1)):
        raise ValueError("the matrices are not integer")
    found = {}
    for i in range(len(generators)):
        for j in range(i + 1, len(generators)):
            row = {
                k: c
                for k, x in enumerate(numbers[i, j].tolist())
                if (c := Fraction(x).limit_denominator(100))
            }
            bracket = (
                (generators[i] @ generators[j] - generators[j] @ generators[i]).flatten().tolist()
            )
            total = [
                sum(c * matrices[k][place] for k, c in row.items()) for place in range(len(bracket))
            ]
            if total != bracket:
                raise ValueError(
                    f"the bracket of {i} and {j} is not the rational combination {row}"
                )
            if row:
                found[i, j] = row
    return found


def question(name: str, generators: Tensor) -> str:
    """The call of `ask` for one algebra."""
    entries = [
        f"[{i + 1},{j + 1},[{','.join(f'{c},{k + 1}' for k, c in row.items())}]]"
        for (i, j), row in exact_constants(generators).items()
    ]
    return f'ask("{name}", {len(generators)}, [{",".join(entries)}]);;\n'


def main() -> None:
    script = GAP + "".join(question(name, build()) for name, build in ALGEBRAS.items()) + "QUIT;\n"
    done = subprocess.run(
        ["gap", "-q", "--quitonbreak"], input=script, capture_output=True, text=True, check=True
    )
    answers = [json.loads(line) for line in re.findall(r"^\{.*\}$", done.stdout, re.MULTILINE)]
    if [answer["name"] for answer in answers] != list(ALGEBRAS):
        sys.exit(
            f"GAP did not answer every question:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
        )
    version = re.search(r"^GAP (\S+)$", done.stdout, re.MULTILINE)
    head = f'{{"gap": "{version[1] if version else "unknown"}", "answers": [\n'
    ANSWERS.write_text(
        head + ",\n".join(json.dumps(answer) for answer in answers) + "\n]}\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
