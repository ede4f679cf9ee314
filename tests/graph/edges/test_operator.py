import numpy as np
import pytest
import torch
from scipy.sparse import csr_array, random_array

from nodegraft.graph.edges.matrix import Matrix
from nodegraft.graph.edges.operator import Operator, multiply
from tests.graph.reference import dense


def rectangle(seed: int = 0) -> csr_array:
    draws = np.random.default_rng(seed)
    return csr_array(random_array((30, 12), density=0.2, rng=draws, dtype=np.float32))


def wide(matrix: csr_array) -> csr_array:
    """The same with 64-bit indices, as it takes for more than 2**31 entries."""
    copy = matrix.copy()
    copy.indices, copy.indptr = copy.indices.astype(np.int64), copy.indptr.astype(np.int64)
    return copy


def product_and_gradient(operator: "Operator | torch.Tensor") -> list[torch.Tensor]:
    """For a loss in which every entry of the product weighs differently."""
    draws = torch.Generator().manual_seed(1)
    weight = torch.randn(12, 5, generator=draws, requires_grad=True)
    product = operator @ weight
    loss = (product * torch.randn(30, 5, generator=draws)).sum()
    return [product.detach(), *torch.autograd.grad(loss, weight)]


@pytest.mark.parametrize(
    "matrix",
    [
        rectangle(),
        wide(rectangle()),
        rectangle().toarray(),
        np.asfortranarray(rectangle().toarray()),
    ],
    ids=["int32", "int64", "dense", "columns first"],
)
def test_product_and_gradient_are_those_of_dense_autograd(matrix: Matrix) -> None:
    expected = product_and_gradient(torch.from_numpy(rectangle().toarray()))
    for found, truth in zip(product_and_gradient(Operator(matrix)), expected, strict=True):
        torch.testing.assert_close(found, truth, rtol=1e-5, atol=1e-6)


def test_indices_stay_as_narrow_as_they_are() -> None:
    for matrix, kind in ((rectangle(), torch.int32), (wide(rectangle()), torch.int64)):
        operator = Operator(matrix)
        for tensor in (operator.forward_matrix, operator.backward_matrix):
            assert tensor.crow_indices().dtype == tensor.col_indices().dtype == kind


def test_a_symmetric_matrix_is_its_own_gradient() -> None:
    square = csr_array(rectangle() @ rectangle().T)
    operator = Operator(square, symmetric=True)
    assert operator.backward_matrix is operator.forward_matrix
    plain = Operator(square)
    torch.testing.assert_close(plain.backward_matrix.to_dense(), operator.forward_matrix.to_dense())


def test_the_transpose_is_made_once_and_only_for_a_gradient() -> None:
    operator = Operator(rectangle())
    operator @ torch.ones(12, 1)
    assert operator._backward is None
    product_and_gradient(operator)
    made = operator._backward
    product_and_gradient(operator)
    assert operator._backward is made is not None


def test_gradients_flow_through_a_chain() -> None:
    matrices = rectangle(0), csr_array(rectangle(1).T)
    weight = torch.randn(12, 3, generator=torch.Generator().manual_seed(0), requires_grad=True)
    gradients: list[torch.Tensor] = []
    for first, second in (map(Operator, matrices), (torch.tensor(m.toarray()) for m in matrices)):
        loss = (second @ (first @ weight).relu()).square().sum()
        gradients += torch.autograd.grad(loss, weight)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("left", [rectangle(), wide(rectangle())], ids=["int32", "int64"])
@pytest.mark.parametrize("sparse", [False, True])
def test_constants_multiply_as_dense_ones(left: csr_array, sparse: bool) -> None:
    right = np.asarray(rectangle(2).T.toarray(), dtype=np.float32)
    product = multiply(left, csr_array(right) if sparse else right)
    np.testing.assert_allclose(dense(product), rectangle().toarray() @ right, rtol=1e-5, atol=1e-6)
    assert isinstance(product, csr_array) == sparse
    assert product.dtype == np.float32


def test_gradients_of_gradients_are_those_of_dense_autograd() -> None:
    found: list[torch.Tensor] = []
    for matrix in (Operator(rectangle()), torch.from_numpy(rectangle().toarray())):
        weight = torch.full((12, 5), 0.5, requires_grad=True)
        (first,) = torch.autograd.grad(((matrix @ weight) ** 3).sum(), weight, create_graph=True)
        found += torch.autograd.grad((first**2).sum(), weight)
    torch.testing.assert_close(found[0], found[1])


def test_coordinates_name_every_stored_entry() -> None:
    rows, columns = Operator(rectangle()).coordinates
    assert (rectangle().toarray() != 0).sum() == rows.size
    assert (rectangle().toarray()[rows, columns] != 0).all()
