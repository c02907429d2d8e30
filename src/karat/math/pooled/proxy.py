"""A cheap guess of every label, fitted across folds so that no label ever helps to guess itself.

Units are split into folds by their permanent random key, labelled or not. The model of fold k is fitted to the
labelled units of the other folds and guesses all units of fold k; given the other folds it is a constant, so the
difference estimator built on it is unbiased whatever the model is worth. The model is linear and not clipped: its
sum over millions of unlabelled units then needs only the sums of the features.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

N_FOLDS = 10
RIDGE = 3.0
_PRIOR_GUESS = 0.5


def fit_folds(
    features: NDArray[np.float64],
    labels: NDArray[np.float64],
    *,
    weights: NDArray[np.float64],
    fold: NDArray[np.int64],
    feature_scale: NDArray[np.float64],
    n_folds: int = N_FOLDS,
    ridge: float = RIDGE,
) -> NDArray[np.float64]:
    """Ridge coefficients of each fold, one row a fold, fitted without that fold.

    Parameters
    ----------
    features
        One row a labelled unit; the first column is all ones and is not penalised.
    labels, weights, fold
        Label, inverse inclusion probability and fold of each labelled unit.
    feature_scale
        Standard deviation of each feature over the pool, so that one penalty suits all.

    Examples
    --------
    >>> x = np.column_stack([np.ones(40), np.arange(40) % 2])
    >>> guess = fit_folds(x, x[:, 1], weights=np.ones(40), fold=np.arange(40) // 4, feature_scale=np.array([1, 0.5]))
    >>> (guess[0] @ x[:2].T).round(2).tolist()
    [0.04, 0.96]
    """
    n_features = features.shape[1]
    scaled = features / feature_scale
    penalty = np.full(n_features, ridge)
    penalty[0] = 0.0
    coefficients = np.zeros((n_folds, n_features))
    for k in range(n_folds):
        rows = fold != k
        if not rows.any():
            coefficients[k, 0] = _PRIOR_GUESS
            continue
        weight = weights[rows] / weights[rows].mean()
        x = scaled[rows]
        gram = x.T @ (x * weight[:, None]) + np.diag(penalty)
        coefficients[k] = np.linalg.solve(gram, x.T @ (weight * labels[rows])) / feature_scale
    return coefficients
