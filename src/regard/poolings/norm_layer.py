"""Learned-norm units as a layer of any network (Gulcehre et al. 2014), in place of an activation function:

    u_j = ( (1/K) Σ_k |z_jk − c_jk|^p_j )^(1/p_j),    p_j = 1 + log(1 + exp(ρ_j))

Each of the units reads K outputs of the layer before it, each output around its own learned centre. The pooling `norm_unit`
is the same unit over the words of a text.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.errors import InputError
from regard.poolings.norm_unit import initial_rho, norm_of, power_mean_of_distances


class NormLayer(nn.Module):
    """Learned-norm units: (…, units · inputs) -> (…, units), as `nn.Linear(width, units * inputs)` provides them.

    Parameters
    ----------
    units : int
        Number of units.
    inputs : int
        Number of inputs per unit (K), neighbours on the last axis.
    norm_init : float
        Initial p of every unit, above 1.
    learn_norm : bool
        Whether p is learned; False keeps the initial one.
    """

    def __init__(self, units: int, inputs: int, norm_init: float = 2.0, learn_norm: bool = True):
        super().__init__()
        if units < 1 or inputs < 1:
            raise InputError(f"units, inputs: expected numbers above 0, got {units} and {inputs}")
        self.units, self.inputs = units, inputs
        self.rho = nn.Parameter(torch.full((units,), initial_rho(norm_init)), requires_grad=learn_norm)
        self.centre = nn.Parameter(torch.zeros(units, inputs))

    @property
    def norm(self) -> Tensor:
        """The norm p of each unit."""
        return norm_of(self.rho)

    def forward(self, z: Tensor) -> Tensor:
        if z.size(-1) != self.units * self.inputs:
            raise InputError(
                f"expected {self.units} × {self.inputs} = {self.units * self.inputs} values on the last axis, "
                f"got {z.size(-1)}"
            )
        rows = z.reshape(-1, self.units, self.inputs).mT  # (N, K, U)
        everything = torch.ones(rows.shape[:2], dtype=torch.bool, device=z.device)
        _, _, means = power_mean_of_distances(rows, self.centre.mT, self.norm, everything)
        return means.view(*z.shape[:-1], self.units)
