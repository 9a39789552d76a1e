"""The exact self-join on a GPU: PyTorch nominates pairs in float16, the processor scores them canonically."""

from __future__ import annotations

from itertools import product as product_of

from quern.jobs.graph.neighbours.codes import Codes
from quern.jobs.graph.neighbours.join import COLUMNS, ROWS, tiles
from quern.jobs.graph.neighbours.nearest_lists import NearestLists, crowd
from quern.jobs.graph.neighbours.threads import parts
from quern.schemas.extras import installed, require

_TILE = 16_384  # Vectors a side: products in float32 take 1 GiB.
_ROUNDING = 2.0**-10  # Of a product of unit vectors to float16.


def device_for(wanted: str) -> str:
    """The device that `neighbours.device` comes to: `auto` takes a GPU where PyTorch is installed and sees one.

    Raises:
        MissingExtraError: A GPU is asked for by name, and PyTorch is not installed.
    """
    if wanted == "auto":
        if not installed("torch"):
            return "cpu"
        import torch

        return "cuda" if torch.cuda.is_available() else "cpu"
    if wanted != "cpu":
        require("torch", f"neighbours.device {wanted}", "set it to cpu")
    return wanted


def join_on_gpu(nearest: NearestLists, codes: Codes, depth: int, device: str) -> None:
    """Compare all vectors with each other.

    Args:
        nearest: Takes the pairs; compares those of a tile itself where too many are too near to tell apart.
        codes: Of its vectors, in float16.
        depth: Neighbours wanted of each.
        device: As PyTorch names it.
    """
    import torch

    # Sums are to be in float32, as the margin presumes.
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    numbers, margin = (torch.from_numpy(values).to(device) for values in (codes.numbers, codes.margin))
    margin += _ROUNDING
    for rows, columns in tiles(len(codes), _TILE):
        made = (numbers[rows[0] : rows[-1] + 1] @ numbers[columns[0] : columns[-1] + 1].t()).float()
        if rows is columns:
            made.fill_diagonal_(-torch.inf)
        turned = [] if rows is columns else [(columns, rows, made.t())]
        for owners, targets, product in [(rows, columns, made), *turned]:
            own = margin[owners[0] : owners[-1] + 1]
            if len(targets) > depth:
                best = product.topk(depth, dim=1).values[:, -1] - own
                nearest.raise_floor(owners, best.cpu().numpy())
            floor = torch.from_numpy(nearest.floor[owners]).to(device)
            reached = product >= (floor - own)[:, None]
            if int(reached.count_nonzero()) > crowd(product.numel()):
                for some, others in product_of(parts(owners, ROWS), parts(targets, COLUMNS)):
                    nearest.compare(some, others, both=False)
                continue
            row, column = torch.nonzero(reached, as_tuple=True)
            upper = (product[row, column] + own[row]).cpu().numpy()
            nearest.await_score(owners[row.cpu().numpy()], targets[column.cpu().numpy()], upper)
